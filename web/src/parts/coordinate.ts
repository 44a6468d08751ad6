/** A coordinate in SVG: two digits behind the point are finer than pixels. */
export const coordinate = (value: number): string => String(Number(value.toFixed(2)));
