/** The results of a search (views, metrics, entities, regions), and the view that each opens. */
import type { NameFacts } from '../../../src/view/facts/names.ts';
import type { Page } from '../page.svelte.ts';
import type { ViewState } from '../state.ts';
import { VIEWS } from '../views/list.ts';

export interface Hit {
  readonly id: string;
  /** Kind of result: view, metric, PE, host … */
  readonly kind: string;
  readonly text: string;
  readonly change: Partial<ViewState>;
}

/** Hits of one kind at most. */
const MOST = 12;

const has = (text: string, asked: string) => text.toLowerCase().includes(asked);

export function viewHits(page: Page, asked: string): Hit[] {
  return VIEWS.filter(
    (view) => view.available(page) && has(`${view.title} ${view.help}`, asked),
  ).map(({ id, title, help }) => ({
    id: `view ${id}`,
    kind: 'view',
    text: `${title}: ${help}`,
    change: { view: id, path: '' },
  }));
}

/** Metrics that are drawn per PE, KP or LP lead to the simulation; those of hosts to the nodes. */
export function metricHits(page: Page, asked: string): Hit[] {
  const hits: Hit[] = [];
  for (const { name, metrics } of page.tables) {
    const isSimulation = name.startsWith('ross_');
    if (!isSimulation && !name.startsWith('node_')) continue;
    for (const { key, help } of metrics) {
      if (hits.length >= MOST) return hits;
      if (!has(`${name}.${key} ${help}`, asked)) continue;
      hits.push({
        id: `metric ${name}.${key}`,
        kind: 'metric',
        text: `${name}.${key}: ${help}`,
        change: { view: isSimulation ? 'simulation' : 'nodes', metric: `${name}.${key}`, path: '' },
      });
    }
  }
  return hits;
}

/** The view that a name opens; null if no view has it. */
function leads({ domain, name }: NameFacts, state: ViewState): Partial<ViewState> | null {
  const ids = name.match(/\d+/g) ?? [];
  switch (domain) {
    case 'pe':
      return { pe: Number(ids[0] ?? 0) };
    case 'kp':
    case 'lp':
      // “LP 17 of KP 3 of PE 1” is seen among its neighbours: path 1/3.
      return { view: 'simulation', path: ids.slice(1).reverse().join('/') };
    case 'region':
      return { view: 'regions', path: '', more: { ...state.more, 'regions.region': name } };
    case 'host':
    case 'cpu':
    case 'device':
      return { view: 'nodes', more: { ...state.more, 'nodes.devicehost': name.split(/[:/]/)[0] } };
    default:
      return null;
  }
}

export async function nameHits(page: Page, asked: string): Promise<Hit[]> {
  if (page.source === null) return [];
  const names = await page.source.json<readonly NameFacts[]>('names', { like: asked });
  return names.flatMap((one) => {
    const change = leads(one, page.state.now);
    return change === null
      ? []
      : [{ id: `${one.domain} ${one.name}`, kind: one.domain, text: one.name, change }];
  });
}
