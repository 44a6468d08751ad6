/** Names in one line the types of counters that are missing only for lack of rights. */
import { isOfRights } from '../node/tree.ts';
import type { Absent } from '../node/types/open-types.ts';

export function tellRights(absent: readonly Absent[], say: (line: string) => void): void {
  const types = absent.filter(({ reason }) => isOfRights(reason)).map(({ type }) => type);
  if (types.length > 0) say(`no rights to read ${types.join(', ')}: see triscope node types`);
}
