// Writes what the providers declare into docs/signals.md: node scripts/signals-doc.mjs (after a build).
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { ALL_PROVIDERS } from '../dist/region/signals/index.js';

const PAGE = fileURLToPath(new URL('../docs/signals.md', import.meta.url));
const BEGIN = '<!-- declared: written by scripts/signals-doc.mjs -->';
const END = '<!-- end -->';

const cell = (text) => (text || '–').replaceAll('|', '\\|');
const row = (...cells) => `| ${cells.map(cell).join(' | ')} |`;

function tableOf({ name, source, declares, controls = [] }) {
  const lines = [
    `### ${name}`,
    '',
    `Source: ${source}.`,
    '',
    row('signal', 'also', 'domain', 'unit', 'behaviour', 'aggregation', 'what it is'),
    '|---|---|---|---|---|---|---|',
    ...declares.map((one) =>
      row(
        `\`${one.name}\``,
        one.alias && `\`${one.alias}\``,
        one.domain,
        one.unit,
        one.behaviour,
        one.aggregation,
        one.description,
      ),
    ),
    '',
  ];
  if (controls.length === 0) return lines;
  return [
    ...lines,
    row('control', 'also', 'domain', 'unit', 'what it is'),
    '|---|---|---|---|---|',
    ...controls.map((one) =>
      row(
        `\`${one.name}\``,
        one.alias && `\`${one.alias}\``,
        one.domain,
        one.unit,
        one.description,
      ),
    ),
    '',
  ];
}

/** The page with what is declared now. */
export function signalsPage(page = readFileSync(PAGE, 'utf8')) {
  const [from, to] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (from < 0 || to < from) throw new Error(`docs/signals.md has no ${BEGIN} … ${END}`);
  const tables = ALL_PROVIDERS.flatMap(tableOf).join('\n');
  return `${page.slice(0, from)}${BEGIN}\n\n${tables}\n${page.slice(to)}`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(PAGE, signalsPage());
