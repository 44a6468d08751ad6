/** The flags of a recording: notes of its folder, marks of its nodes. */
import { visible } from '../formats/visible.ts';
import type { Note } from '../model/note.ts';
import type { Table } from '../query/table.ts';
import { byFrom, type Flag } from '../view/facts/flag.ts';

/** Marks that are flags; where there are more, as in an archive of many jobs, none is. */
const MOST_MARKS = 1000;

const noteFlag = ({ time, until, text }: Note): Flag => ({
  kind: 'note',
  from: time,
  to: until ?? null,
  text,
});

/** Marks of raw stats files, each with its host. */
function marksOf({ columns, pieces }: Table): Flag[] {
  const [mark, host] = ['mark', 'host'].map((key) => columns.findIndex(({ name }) => name === key));
  return pieces.flatMap(({ part, time, shift, from }) => {
    const read = [time, from[mark], from[host]];
    if (read.some((column) => column === null || column === undefined || column < 0)) return [];
    const [, texts, hosts] = (read as number[]).map((column) => part.labels[column] ?? []);
    return [...part.read(read as number[])].flatMap(({ rows, columns: [times, marks, named] }) =>
      Array.from({ length: rows }, (_, k): Flag => {
        const said = `${hosts[Number(named[k])] ?? ''}: ${texts[Number(marks[k])] ?? ''}`;
        return { kind: 'mark', from: Number(times[k]) + shift, to: null, text: visible(said) };
      }),
    );
  });
}

/** By time. */
export function flagsOf(notes: readonly Note[], tables: readonly Table[]): readonly Flag[] {
  const marked = tables.find(({ name, timed }) => name === 'node_mark' && timed);
  const marks = marked !== undefined && marked.rows <= MOST_MARKS ? marksOf(marked) : [];
  return [...notes.map(noteFlag), ...marks].sort(byFrom);
}
