/** Raw stats files of tacc_stats and hpcperfstats as a format. */
import type { Format } from '../format.ts';
import { detectRaw } from './detect.ts';
import { openRaw } from './open.ts';

/** Raw stats files of tacc_stats, of all its versions. */
export const TACC = {
  name: 'tacc',
  help: 'raw stats files of tacc_stats and hpcperfstats, plain or gzip',
  detect: (head) => detectRaw(head),
  open: openRaw,
  records: true,
} satisfies Format;
