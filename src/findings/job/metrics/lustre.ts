/** The data that really went to and from Lustre. */
import type { JobView } from '../view.ts';
import { type Declaration, sum } from './declaration.ts';
import { declared, type MetricFamily } from './metric.ts';

const KEYS = ['read_bytes', 'write_bytes'];

/** Some versions of Lustre use names for these that the collector does not expect: such keys stay 0. */
function lacks(view: JobView): string | null {
  const isSilent = KEYS.every((key) => view.has('osc', key)) && view.total('osc', ...KEYS) === 0;
  if (!isSilent || !view.has('llite', 'write_bytes')) return null;
  return view.total('llite', 'write_bytes') > 0
    ? 'bytes of osc: they stayed 0 while llite counted'
    : null;
}

const moved = (direction: 'read' | 'write', note: string): Declaration => ({
  ...{ name: `lustre_${direction}`, unit: 'MiB', note, lacks },
  ...{ of: sum('osc', `${direction}_bytes`), per: null },
  or: { of: sum('llite', `osc_${direction}`) },
});

export const LUSTRE: MetricFamily = {
  title: 'Lustre traffic',
  set: 'triscope',
  metrics: declared(
    moved(
      'read',
      'llite.read_bytes is no measure of it: a bug of Lustre counts the size that read() was given, so it overreports.',
    ),
    moved('write', ''),
  ),
};
