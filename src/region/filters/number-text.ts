/** Numbers in settings: decimal or hexadecimal; null for other text. */
export function numberText(text: string): number | null {
  if (!/^(0x[0-9a-f]+|\d+\.?\d*(e[+-]?\d+)?|\.\d+)$/i.test(text)) return null;
  return Number(text);
}
