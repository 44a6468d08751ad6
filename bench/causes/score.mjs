// The score as a table, and its place in docs/findings.md.
import { readFileSync, writeFileSync } from 'node:fs';

const PAGE = new URL('../../docs/findings.md', import.meta.url);
/** Where the score of simulations stands on the page, and that of programs. */
const PLACES = {
  simulations: 'npm run bench:causes',
  programs: 'npm run bench:causes --of=programs',
};

const cell = (text) => text.replaceAll('|', '\\|');
const short = (text) => (text.length > 160 ? `${text.slice(0, 157)}…` : text);

/** Times as slow as its healthy twin: a run is sick from here on. */
const SICK = 1.3;

/** Score of each seed. */
export function scoresOf(results) {
  return [...new Set(results.map(({ seed }) => seed))].map((seed) => {
    const of = (kind) =>
      results.filter((one) => one.seed === seed && one.kind === kind && one.error === undefined);
    const [sick, healthy] = [of('sick'), of('healthy')];
    const sum = (all, what) => all.reduce((total, one) => total + Number(one[what] ?? 0), 0);
    return {
      seed,
      ...{ sick: sick.length, named: sum(sick, 'named') },
      turned: sick.filter(({ gain }) => gain != null).length,
      ...{ help: sum(sick, 'helps'), compared: sick.filter(({ slower }) => slower > 0).length },
      slower: sick.filter(({ slower }) => slower >= SICK).length,
      others: [...sick, ...healthy].flatMap(({ others }) => others ?? []).sort((a, b) => a - b),
      ...{
        healthy: healthy.length,
        problems: sum(healthy, 'problems'),
        notices: sum(healthy, 'notices'),
      },
    };
  });
}

const cpus = (sorted, part) =>
  (sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? 0).toFixed(2);

export const scoreText = (results) =>
  [
    '| seed | named | sick by their twins | settings that help | healthy runs | false problems | false notices | CPUs that others used: median, most |',
    '|---|---|---|---|---|---|---|---|',
    ...scoresOf(results).map(
      (s) =>
        `| ${s.seed} | ${s.named} of ${s.sick} | ${s.slower} of ${s.compared} | ${s.help} of ${s.turned} | ${s.healthy} | ${s.problems} | ${s.notices} | ${cpus(s.others, 0.5)}, ${cpus(s.others, 1)} |`,
    ),
  ].join('\n');

/** Each cause with its first finding as the first seed had it, and over all seeds how often it was named and its knob’s gain. */
function causesText(results) {
  const sick = results.filter(({ kind, error }) => kind === 'sick' && error === undefined);
  const names = [...new Set(sick.map(({ name }) => name))];
  const rows = names.map((name) => {
    const all = sick.filter((one) => one.name === name);
    const gains = all.map(({ gain, helps }) =>
      gain == null ? '–' : `${gain.toFixed(2)}${helps ? '' : ' (noise)'}`,
    );
    const named = all.filter((one) => one.named).length;
    const times = all.map(({ slower }) => (slower == null ? '–' : slower.toFixed(2)));
    return `| ${name} | ${named} of ${all.length} | ${times.join(', ')} | ${gains.join(', ')} | ${cell(short(all[0].says))} |`;
  });
  return [
    '| made | named | times as slow as its twin | setting changed: times the rate | first finding |',
    '|---|---|---|---|---|',
    ...rows,
  ].join('\n');
}

/** Each set that was tried gets its place. @throws Error where the page has no place for it */
export function writeScore(results) {
  let page = readFileSync(PAGE, 'utf8');
  for (const [of, command] of Object.entries(PLACES)) {
    const those = results.filter((one) => (one.of ?? 'simulations') === of);
    if (those.length === 0) continue;
    const [begin, end] = ['begin', 'end'].map((word) => `<!-- made by ${command}: ${word} -->`);
    const [from, to] = [page.indexOf(begin), page.indexOf(end)];
    if (from < 0 || to < from) throw new Error(`docs/findings.md has no lines ${begin} and ${end}`);
    const text = `${scoreText(those)}\n\n${causesText(those)}`;
    page = `${page.slice(0, from)}${begin}\n\n${text}\n\n${page.slice(to)}`;
  }
  writeFileSync(PAGE, page);
}
