/** Damaged files of tacc: see `rule.ts` for what must hold. */
import { tested } from './tested.ts';

tested('tacc');
tested('tacc-gz');
