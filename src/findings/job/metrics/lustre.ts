/** The data that really went to and from Lustre. */
import { MIB } from '../../../model/bytes.ts';
import { MissingInput } from '../view.ts';
import type { JobMetric, MetricFamily } from './metric.ts';

const DIRECTIONS = ['read', 'write'] as const;

export const LUSTRE: MetricFamily = {
  title: 'Lustre traffic',
  set: 'triscope',
  metrics: DIRECTIONS.map(
    (direction): JobMetric => ({
      name: `lustre_${direction}`,
      unit: 'MiB',
      formula: `Δosc.${direction}_bytes / 2²⁰, of all hosts; where there is no osc, Δllite.osc_${direction}`,
      inputs: [`osc.${direction}_bytes`, `llite.osc_${direction}`],
      note:
        direction === 'read'
          ? 'llite.read_bytes is no measure of it: a bug of Lustre counts the size that read() was given, so it overreports.'
          : '',
      compute: (view) => {
        if (!view.has('osc', `${direction}_bytes`)) {
          if (!view.has('llite', `osc_${direction}`)) throw new MissingInput('type osc');
          return view.total('llite', `osc_${direction}`) / MIB;
        }
        // Some versions of Lustre use names for these that the collector does not expect: such keys stay 0.
        const silent = view.total('osc', ...DIRECTIONS.map((one) => `${one}_bytes`)) === 0;
        if (silent && view.has('llite', 'write_bytes') && view.total('llite', 'write_bytes') > 0) {
          throw new MissingInput('bytes of osc: they stayed 0 while llite counted');
        }
        return view.total('osc', `${direction}_bytes`) / MIB;
      },
    }),
  ),
};
