/** Damaged traces in JSON: see `rule.ts` for what must hold. */
import { tested } from './tested.ts';

tested('trace-event');
