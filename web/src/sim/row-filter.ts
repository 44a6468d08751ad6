/** Which rows are shown according to the typed text: filtered, hidden and pinned. Pure. */

/** Texts in a row's label: show only such rows, hide them, or put them first. */
interface Wish {
  readonly some: readonly string[];
  readonly none: readonly string[];
  readonly first: readonly string[];
}

const LIST = /\s*,\s*/;

function wishOf(text: string): Wish {
  const parts = text.toLowerCase().trim().split(LIST).filter(Boolean);
  const marked = (mark: string) =>
    parts.filter((part) => part.startsWith(mark)).map((part) => part.slice(1).trim());
  return {
    some: parts.filter((part) => !/^[-^]/.test(part)),
    none: marked('-'),
    first: marked('^'),
  };
}

/** A number means the row with that number; anything else is a part of its label. */
const holds = (label: string, part: string): boolean =>
  /^\d+$/.test(part)
    ? label.split(/\D+/).at(-1) === part
    : part !== '' && label.toLowerCase().includes(part);

/**
 * Indices of the rows to show. `text`: parts of labels, or numbers, with commas between them: `12, 17` shows those, `-3`
 * hides one, `^5` pins one to the top. All rows if the text is empty, or would leave no row.
 */
export function rowsShown(labels: readonly string[], text: string): number[] {
  const { some, none, first } = wishOf(text);
  const all = [...labels.keys()];
  const any = (row: number, parts: readonly string[]) =>
    parts.some((part) => holds(labels[row], part));
  const pinned = all.filter((row) => any(row, first));
  const rest = all.filter(
    (row) => !pinned.includes(row) && !any(row, none) && (some.length === 0 || any(row, some)),
  );
  const shown = [...pinned, ...rest];
  return shown.length === 0 ? all : shown;
}
