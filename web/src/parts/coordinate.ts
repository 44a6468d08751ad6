/** A coordinate in SVG: two digits after the decimal point are finer than pixels. */
export const coordinate = (value: number): string => String(Number(value.toFixed(2)));
