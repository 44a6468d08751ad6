/** Damaged files of geopm: see `rule.ts` for what must hold. */
import { tested } from './tested.ts';

tested('geopm-trace');
tested('geopm-profile');
tested('geopm-report');
tested('geopm-session');
