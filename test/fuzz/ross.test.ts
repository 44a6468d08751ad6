/** Damaged files of ross: see `rule.ts` for what must hold. */
import { tested } from './tested.ts';

tested('ross-samples');
tested('ross-events');
tested('ross-2017');
