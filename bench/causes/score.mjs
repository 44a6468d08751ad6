// The score as a table, and its place in docs/findings.md.
import { readFileSync, writeFileSync } from 'node:fs';

const PAGE = new URL('../../docs/findings.md', import.meta.url);
const [BEGIN, END] = ['begin', 'end'].map(
  (word) => `<!-- made by npm run bench:causes: ${word} -->`,
);

const cell = (text) => text.replaceAll('|', '\\|');
const short = (text) => (text.length > 160 ? `${text.slice(0, 157)}…` : text);

/** Score of each seed. */
export function scoresOf(results) {
  return [...new Set(results.map(({ seed }) => seed))].map((seed) => {
    const of = (kind) => results.filter((one) => one.seed === seed && one.kind === kind);
    const [sick, healthy] = [of('sick'), of('healthy')];
    const sum = (all, what) => all.reduce((total, one) => total + Number(one[what] ?? 0), 0);
    return {
      seed,
      ...{ sick: sick.length, named: sum(sick, 'named') },
      ...{ turned: sick.filter(({ gain }) => gain != null).length, help: sum(sick, 'helps') },
      ...{
        healthy: healthy.length,
        problems: sum(healthy, 'problems'),
        notices: sum(healthy, 'notices'),
      },
    };
  });
}

export const scoreText = (results) =>
  [
    '| seed | named | knobs that help | healthy runs | false problems | false notices |',
    '|---|---|---|---|---|---|',
    ...scoresOf(results).map(
      (s) =>
        `| ${s.seed} | ${s.named} of ${s.sick} | ${s.help} of ${s.turned} | ${s.healthy} | ${s.problems} | ${s.notices} |`,
    ),
  ].join('\n');

/** Each cause with its first finding as the first seed had it, and over all seeds how often it was named and its knob’s gain. */
function causesText(results) {
  const names = [...new Set(results.filter(({ kind }) => kind === 'sick').map(({ name }) => name))];
  const rows = names.map((name) => {
    const all = results.filter((one) => one.name === name);
    const gains = all.map(({ gain, helps }) =>
      gain == null ? '–' : `${gain.toFixed(2)}${helps ? '' : ' (noise)'}`,
    );
    const named = all.filter((one) => one.named).length;
    return `| ${name} | ${named} of ${all.length} | ${gains.join(', ')} | ${cell(short(all[0].error ?? all[0].says))} |`;
  });
  return [
    '| made | named | knob turned: times the rate | first finding |',
    '|---|---|---|---|',
    ...rows,
  ].join('\n');
}

/** @throws Error where the page has no place for it */
export function writeScore(results) {
  const page = readFileSync(PAGE, 'utf8');
  const [from, to] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (from < 0 || to < from) throw new Error(`docs/findings.md has no lines ${BEGIN} and ${END}`);
  const text = `${scoreText(results)}\n\n${causesText(results)}`;
  writeFileSync(PAGE, `${page.slice(0, from)}${BEGIN}\n\n${text}\n\n${page.slice(to)}`);
}
