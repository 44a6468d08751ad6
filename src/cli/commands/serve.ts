export async function serve(_args: readonly string[]): Promise<number> {
  return 0;
}
