/** The rules of OpenMetrics, written without the writer’s code. */

const SAMPLE =
  /^([a-zA-Z_][a-zA-Z0-9_]*)(\{[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\[\\"n])*"(?:,[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\[\\"n])*")*\})? (\S+)(?: (\d+\.\d+))?$/;

const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="/g;

/**
 * What is against OpenMetrics 1.0: a family's lines are together, TYPE first and each of TYPE, UNIT, HELP once; names of
 * families and samples are each other's in no case; units end names; a series' samples are together, with times that
 * ascend, or without any; labels are told apart; texts are escaped; counters are not negative and do not fall.
 */
export function openMetricsFaults(text: string): string[] {
  const faults: string[] = [];
  const seen = new Set<string>();
  const series = new Map<string, { time: number; value: number }>();
  const names = new Set<string>();
  const told = new Set<string>();
  let before = '';
  let family = '';
  let type = '';
  const lines = text.split('\n');
  if (lines.pop() !== '' || lines.pop() !== '# EOF') faults.push('no # EOF');
  for (const line of lines) {
    const [, what, name, value] = /^# (TYPE|UNIT|HELP) (\S+) ?(.*)$/.exec(line) ?? [];
    if (what === 'TYPE') {
      if (seen.has(name)) faults.push(`again: ${line}`);
      seen.add(name);
      family = name;
      type = value;
      if (!['counter', 'gauge'].includes(type)) faults.push(`another type: ${line}`);
      for (const one of [name, `${name}_total`, `${name}_created`]) {
        if (names.has(one)) faults.push(`${one} is another family's: ${line}`);
        names.add(one);
      }
      continue;
    }
    if (what !== undefined) {
      if (name !== family || before.startsWith(family)) faults.push(`of another family: ${line}`);
      if (told.has(`${what} ${name}`)) faults.push(`again: ${line}`);
      told.add(`${what} ${name}`);
      if (what === 'HELP' && /\\(?![\\n"])/.test(value.replaceAll('\\\\', '')))
        faults.push(`not escaped: ${line}`);
      if (what === 'UNIT' && !name.endsWith(`_${value}`))
        faults.push(`unit not in the name: ${line}`);
      continue;
    }
    const sample = SAMPLE.exec(line);
    if (sample === null) {
      faults.push(`no sample: ${line}`);
      continue;
    }
    if (sample[1] !== (type === 'counter' ? `${family}_total` : family))
      faults.push(`not of ${family}: ${line}`);
    const number =
      sample[3] === '+Inf' ? Infinity : sample[3] === '-Inf' ? -Infinity : Number(sample[3]);
    if (Number.isNaN(number) && sample[3] !== 'NaN') faults.push(`no number: ${line}`);
    const labels = [...(sample[2] ?? '').matchAll(LABEL)].map(([, name]) => name);
    if (new Set(labels).size < labels.length) faults.push(`a label twice: ${line}`);
    const key = sample[1] + (sample[2] ?? '');
    const time = Number(sample[4] ?? Infinity);
    const last = series.get(key);
    if (last !== undefined && before !== key) faults.push(`apart from its series: ${line}`);
    if (last !== undefined && !(time > last.time)) faults.push(`time does not ascend: ${line}`);
    if (type === 'counter' && !(number >= (last?.value ?? 0))) faults.push(`falls: ${line}`);
    series.set(key, { time, value: number });
    before = key;
  }
  return faults;
}
