/** `triscope node alerts`: findings that live metrics can show, as rules of Prometheus. */

import { flag, float } from '../../model/option.ts';
import { DAY_SECONDS } from '../../model/units.ts';
import { DEFAULT_CONFIG } from '../../node/config.ts';
import { type Call, command } from '../command.ts';

/** Samples over which a rate is taken; as many may be missing. */
const SAMPLES = 3;

const OPTIONS = {
  freq: float(DEFAULT_CONFIG.freq, 'seconds between samples of the daemons', {
    min: 1,
    max: DAY_SECONDS,
    placeholder: 'SECONDS',
    short: 'f',
  }),
  silence: float(2 * 3600, 'seconds without a sample after which a host is reported', {
    min: 1,
    max: 1e7,
    placeholder: 'SECONDS',
  }),
  json: flag(false, 'one object'),
} as const;

async function run({ given }: Call<typeof OPTIONS, null>): Promise<number> {
  const { alertsOf, alertsText } = await import('../../live/alerts.ts');
  const seconds = Math.ceil(SAMPLES * (given.freq ?? OPTIONS.freq.default));
  const alerts = alertsOf(`${seconds}s`, given.silence ?? OPTIONS.silence.default);
  process.stdout.write(
    given.json ? `${JSON.stringify({ alerts }, null, 2)}\n` : alertsText(alerts),
  );
  return 0;
}

export const nodeAlerts = command({
  about:
    'Prints alerting rules for Prometheus, over what node daemon --metrics serves: findings that a running node can show, with their thresholds and words.',
  options: OPTIONS,
  examples: ['node alerts > triscope-alerts.yml', 'node alerts --freq 60'],
  run,
});
