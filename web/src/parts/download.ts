/** Offers a file as a download. */
export function download(name: string, content: Blob): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  // By then the browser has taken the file.
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

export const textFile = (text: string, type: string): Blob =>
  new Blob([text], { type: `${type};charset=utf-8` });
