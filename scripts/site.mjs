/**
 * `npm run docs`: documents and the reference of the public API as a static site with search, light and dark, which also opens from a
 * file: `site/VERSION`. Each version that is built keeps its folder; `site/index.html` lists them.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));

/** Where each document stands: what one wants when one opens it. A folder stands for all in it. */
export const GROUPS = {
  Start: ['docs/coming-from', 'docs/glossary.md', 'CONTRIBUTING.md'],
  Tutorials: [
    ...['docs/tutorials/modeller.md', 'docs/tutorials/experimenter.md'],
    ...['docs/tutorials/mpi-programmer.md', 'docs/tutorials/operator.md'],
    'docs/tutorials/analyst.md',
    'docs/writing-a-model.md',
    'docs/instrumentation.md',
    'docs/region.md',
    'docs/query.md',
  ],
  'How to': [
    ...['docs/record.md', 'docs/diff.md', 'docs/export.md', 'docs/notebooks.md'],
    ...['docs/dashboard.md', 'docs/dashboard-simulation.md', 'docs/dashboard-machine.md'],
    ...['docs/live.md', 'docs/region-launch.md', 'docs/sweep.md', 'docs/statistics.md'],
    ...['docs/parts.md', 'docs/networks.md', 'docs/checkpoints.md', 'docs/cluster.md'],
    ...['docs/node/README.md', 'docs/node/collector.md', 'docs/node/jobs.md'],
    ...['docs/node/broker.md', 'docs/node/hardware.md'],
  ],
  Reference: [
    ...['docs/command-line.md', 'docs/measures.md', 'docs/findings.md', 'docs/signals.md'],
    ...['docs/node/types.md', 'docs/models', 'docs/formats', 'docs/region-page.md'],
  ],
  Explanation: [
    ...['docs/simulator.md', 'docs/architecture.md', 'docs/performance.md', 'docs/scale.md'],
    ...['docs/reliability.md', 'docs/dependencies.md', 'SECURITY.md', 'CHANGELOG.md'],
  ],
};

/** Documents of the site, by path in the checkout. Those that no group names stand with what one does. */
export function documents() {
  const all = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md'))
    .map((path) => `docs/${path}`);
  const groups = Object.entries(GROUPS);
  const holds = (path) => (name) => path === name || path.startsWith(`${name}/`);
  return [...all, 'SECURITY.md', 'CHANGELOG.md', 'CONTRIBUTING.md']
    .map((path) => {
      const [group, names] = groups.find(([, names]) => names.some(holds(path))) ?? ['How to', []];
      const place = names.findIndex(holds(path));
      return { path, group, place: place < 0 ? Number.POSITIVE_INFINITY : place };
    })
    .sort((a, b) => a.place - b.place || a.path.localeCompare(b.path, 'en'));
}

/** Code blocks without a language are no TypeScript. */
const plain = (text) => text.replace(/^```\n(.*?)^```$/gms, '```text\n$1```');

/** Code in a heading is text: the list of headings would leave it out. */
function textOfHeadings(parts) {
  let before = '';
  for (const part of parts) {
    if (part.kind === 'code' && /(^|\n)#{2,6} [^\n]*$/.test(before)) {
      part.kind = 'text';
      part.text = part.text.replaceAll('`', '');
    }
    before = `${before}${part.text}`.slice(-200);
  }
}

/** Gives a document the name that is its first line, and its group. */
function place(document) {
  const [first] = document.content;
  const [, title] = /^# (.*)\n/.exec(first?.text ?? '') ?? ['', document.name];
  for (const part of document.content) part.text = plain(part.text);
  textOfHeadings(document.content);
  document.name = title.replaceAll('`', '');
  const path = relative(ROOT, document.project.files.getReflectionPath(document) ?? '');
  const group = documents().find((one) => one.path === path)?.group;
  if (group === undefined) throw new Error(`${path || document.name}: the document has no group`);
  document.frontmatter = { ...document.frontmatter, group };
}

async function build() {
  const typedoc = await import('typedoc');
  const out = join(ROOT, 'site', version);
  const app = await typedoc.Application.bootstrapWithPlugins({
    options: join(ROOT, 'typedoc.json'),
    readme: join(ROOT, 'README.md'),
    projectDocuments: documents().map(({ path }) => join(ROOT, path)),
    groupOrder: [...Object.keys(GROUPS), '*'],
  });
  app.converter.on(typedoc.Converter.EVENT_CREATE_DOCUMENT, (_context, document) =>
    place(document),
  );
  // The module triscope refers to all of triscope/sim: a search finds each name once.
  app.renderer.on(typedoc.IndexEvent.PREPARE_INDEX, (event) => {
    for (let k = event.searchResults.length - 1; k >= 0; k--) {
      if (event.searchResults[k].isReference()) event.removeResult(k);
    }
  });
  const project = await app.convert();
  if (project === undefined) throw new Error('the sources do not compile: npm run check');
  for (const part of project.readme ?? []) part.text = plain(part.text).replace(/^# .*\n/, '');
  await app.generateDocs(project, out);
  openToAll(out);
  index(join(ROOT, 'site'));
  const dead = deadLinks(out);
  if (dead.length > 0) throw new Error(`links that lead nowhere:\n${dead.join('\n')}`);
  return out;
}

/** Says how deep each heading is, where the theme leaves levels out. */
function levels(html) {
  const above = [];
  return html.replaceAll(/<h([1-6])(?=[ >])/g, (tag, digit) => {
    const written = Number(digit);
    while (above.length > 0 && above[above.length - 1] >= written) above.pop();
    above.push(written);
    return above.length === written ? tag : `${tag} aria-level="${above.length}"`;
  });
}

/** The list of versions, seen from a page. */
const toVersions = (path) => `${'../'.repeat(path.split('/').length)}index.html`;

/**
 * Adds a link to the versions, and what the theme lacks for those who read by keyboard or by ear: landmarks for the main part and
 * the list of a page's headings, code that scrolls, cells for empty heads of tables, levels of headings, no links within what
 * opens and closes a section.
 */
function openToAll(folder) {
  for (const path of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!path.endsWith('.html')) continue;
    const file = join(folder, path);
    const text = readFileSync(file, 'utf8')
      .replaceAll('<div class="col-content">', '<div class="col-content" role="main">')
      .replaceAll(
        '<div class="page-menu">',
        '<div class="page-menu" role="navigation" aria-label="Page">',
      )
      .replace('<div id="tsd-toolbar-links">', `$&<a href="${toVersions(path)}">Versions</a>`)
      .replaceAll('<pre>', '<pre tabindex="0">')
      .replaceAll('<th></th>', '<td></td>')
      .replaceAll(/<summary[^>]*>.*?<\/summary>/gs, (summary) =>
        summary.replaceAll(/<a [^>]*class="tsd-anchor-icon"[^>]*>.*?<\/a>/gs, ''),
      );
    writeFileSync(file, levels(text));
  }
}

/** The page that leads to the versions, the newest first. */
function index(folder) {
  const versions = readdirSync(folder, { withFileTypes: true })
    .filter((one) => one.isDirectory())
    .map(({ name }) => name)
    .sort((a, b) => b.localeCompare(a, 'en', { numeric: true }));
  const items = versions.map((name) => `<li><a href="${name}/index.html">${name}</a></li>`);
  writeFileSync(
    join(folder, 'index.html'),
    `<!doctype html><html lang="en"><meta charset="utf-8"><title>Triscope</title>
<meta name="color-scheme" content="light dark"><h1>Triscope</h1><p>Documents by version:</p><ul>${items.join('')}</ul></html>\n`,
  );
}

/** Links between the pages in `folder` whose page, or place in it, is not there. */
function deadLinks(folder) {
  const pages = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith('.html'),
  );
  const texts = new Map(pages.map((path) => [path, readFileSync(join(folder, path), 'utf8')]));
  const ids = new Map(
    [...texts].map(([path, text]) => [
      path,
      new Set([...text.matchAll(/\bid="([^"]*)"/g)].map(([, id]) => id)),
    ]),
  );
  const dead = [];
  for (const [path, text] of texts) {
    for (const [, link] of text.matchAll(/\bhref="([^"]*)"/g)) {
      if (/^([a-z]+:|$)/.test(link)) continue;
      const [file, anchor = ''] = decodeURIComponent(
        link.replaceAll('&amp;', '&').replaceAll('&#39;', "'"),
      ).split('#');
      const target = file === '' ? path : join(dirname(path), file);
      const found = ids.get(target);
      const isThere =
        found === undefined ? existsSync(join(folder, target)) : anchor === '' || found.has(anchor);
      if (!isThere) dead.push(`${path}: ${link}`);
    }
  }
  return dead;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    console.log(await build());
  } catch (error) {
    process.stderr.write(`site: ${error.message}\n`);
    process.exitCode = 1;
  }
}
