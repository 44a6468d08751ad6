/** Who gets the signals of a terminal's keys. Source: proc(5), fields `pgrp` and `tpgid` of stat. */
import { textOf } from './proc-file.ts';

/**
 * Whether this process is in the group of processes to which its terminal sends the signals of Ctrl-C and Ctrl-\, whatever
 * stdin is. False where it has no terminal.
 */
export function isForeground(): boolean {
  const stat = textOf('/proc/self/stat') ?? '';
  const [, , group, , , foreground] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return group !== undefined && group === foreground;
}
