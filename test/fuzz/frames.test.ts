/** Damaged files of frames, and recordings: see `rule.ts` for what must hold. */
import { tested } from './tested.ts';

tested('frames');
tested('recording');
