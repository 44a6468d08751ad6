/** Lines, resources and stores: against theory, and the same with every synchroniser. */
import '../support/small-machine.ts';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  defineModel,
  type LoadedModel,
  loadModel,
  type Settings,
  simulate,
  type TallyResult,
  type TimeAverageResult,
  tally,
} from 'triscope/sim';
import { line, resource, store } from 'triscope/sim/parts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let center: LoadedModel;
beforeAll(async () => {
  center = await loadModel(
    fileURLToPath(new URL('../../examples/call-center.ts', import.meta.url)),
  );
});
afterAll(() => center.dispose());

/** Stationary probabilities of a birth-death process with `n` + 1 states. */
function stationary(n: number, up: (k: number) => number, down: (k: number) => number): number[] {
  const p = [1];
  for (let k = 0; k < n; k++) p.push(((p[k] as number) * up(k)) / down(k + 1));
  const sum = p.reduce((a, b) => a + b);
  return p.map((x) => x / sum);
}

async function measured(options: Settings['options'] = {}, end = 20_000) {
  const { statistics } = (await simulate(center, { end, options })).results;
  const mean = (name: string) => (statistics[name] as TallyResult | TimeAverageResult).mean ?? 0;
  return { wait: mean('wait'), urgent: mean('urgentWait'), lost: mean('lost'), busy: mean('busy') };
}

const within = (part: number, got: number, truth: number) =>
  expect(Math.abs(got / truth - 1), `${got} for ${truth}`).toBeLessThan(part);

describe('a resource agrees with theory', () => {
  it('of several servers and one line (M/M/c, Erlang C)', async () => {
    const c = 3;
    const a = c * 0.8;
    const p = stationary(
      2000,
      () => a,
      (k) => Math.min(k, c),
    );
    const queue = p.reduce((sum, x, k) => sum + x * Math.max(0, k - c), 0);
    const { wait, busy, lost } = await measured({ agents: c, load: 0.8 });
    within(0.05, wait, queue / a); // Little's law
    within(0.02, busy, a);
    expect(lost).toBe(0);
  });

  it('of urgent customers who go first (M/M/1, A. Cobham, 1954)', async () => {
    const [load, urgent] = [0.7, 0.3];
    // Mean work left to the one in service, over what is left of time beside those who go first.
    const first = load / (1 - load * urgent);
    const { wait, urgent: urgentWait } = await measured({ agents: 1, load, urgent }, 40_000);
    within(0.05, urgentWait, first);
    within(0.05, wait, first / (1 - load));
  });

  it('of customers who lose patience (M/M/c+M, Erlang A)', async () => {
    const [c, load, patience] = [4, 1.2, 2];
    const a = c * load;
    const over = (k: number) => Math.max(0, k - c) / patience;
    const p = stationary(
      400,
      () => a,
      (k) => Math.min(k, c) + over(k),
    );
    const lostRate = p.reduce((sum, x, k) => sum + x * over(k), 0);
    const working = p.reduce((sum, x, k) => sum + x * Math.min(k, c), 0);
    const { lost, busy } = await measured({ agents: c, load, patience });
    within(0.03, lost, lostRate / a);
    within(0.01, busy, working);
  });
});

describe('parts', () => {
  it('are the same with every synchroniser', async () => {
    const options = { centers: 6, agents: 2, load: 1.1, patience: 1, urgent: 0.4 };
    const given = { end: 60, warmup: 10, options };
    const truth = await simulate(center, { ...given, synch: 'sequential' });
    expect(truth.netEvents).toBeGreaterThan(1000);
    const ways: readonly Settings[] = [
      { synch: 'rollback-check' },
      { synch: 'optimistic-debug' },
      { synch: 'optimistic', pes: 1, nkp: 1 },
    ];
    for (const way of ways) {
      const run = await simulate(center, { ...given, ...way });
      expect([way, run.eventDigest, run.stateDigest]).toEqual([
        way,
        truth.eventDigest,
        truth.stateDigest,
      ]);
    }
  });

  it('of a store with room for a few items lose what the theory of M/M/1/K says', async () => {
    const [made, wanted, room] = [0.8, 1, 4];
    const shop = defineModel({
      name: 'shop',
      lps: () => 4,
      end: 20_000,
      state: { shelf: store({ items: room, places: 1 }), missed: tally(), spoilt: tally() },
      message: { made: 'bool' },
      init(lp) {
        lp.send(lp.id, lp.exponential(1 / made)).made = true;
        lp.send(lp.id, lp.exponential(1 / wanted));
      },
      forward(lp, m) {
        const { shelf, missed, spoilt } = lp.state;
        if (m.made) {
          spoilt.add(shelf.items.isFull ? 1 : 0);
          if (!shelf.items.isFull) shelf.items.join(lp.now);
          lp.send(lp.id, lp.exponential(1 / made)).made = true;
          return;
        }
        const ticket = shelf.line.join(lp.now);
        const handed = shelf.hand();
        missed.add(handed === undefined ? 1 : 0);
        if (handed === undefined) shelf.line.leave(ticket);
        lp.send(lp.id, lp.exponential(1 / wanted));
      },
    });
    const { statistics } = (await simulate(shop)).results;
    const p = stationary(
      room,
      () => made,
      () => wanted,
    );
    within(0.04, (statistics.missed as TallyResult).mean ?? 0, p[0] as number);
    within(0.06, (statistics.spoilt as TallyResult).mean ?? 0, p[room] as number);
  });

  /** What `play` did with a line, a resource and a store of one LP, in words. */
  const played = async (play: (lp: Played, say: (word: unknown) => void) => void) => {
    const said: string[] = [];
    const model = defineModel({
      name: 'played',
      lps: () => 1,
      end: 3,
      state: PLAYED,
      message: {},
      init: (lp) => void lp.send(lp.id, 1),
      forward(lp) {
        play(lp.state as unknown as Played, (word) => lp.output(String(word)));
      },
    });
    await simulate(model, {}, { onOutput: (lines) => said.push(...lines.map(({ text }) => text)) });
    return said.join(' ');
  };
  const PLAYED = {
    row: line(4),
    units: resource({ places: 4, capacity: 3 }),
    shelf: store({ items: 2, places: 2 }),
  };
  type Played = {
    readonly row: ReturnType<ReturnType<typeof line>['view']>;
    readonly units: ReturnType<ReturnType<typeof resource>['view']>;
    readonly shelf: ReturnType<ReturnType<typeof store>['view']>;
  };

  it('keep the order of priorities and of coming, also where some leave', async () => {
    const said = await played(({ row }, say) => {
      const a = row.join(1);
      row.join(2, { priority: 0 });
      const c = row.join(3);
      row.join(4, { priority: 0 });
      say(row.isFull);
      say(row.leave(a)?.value);
      say(row.leave(a)?.value);
      say(row.has(c));
      row.join(5, { priority: -1 });
      while (row.length > 0) say(row.next()?.value);
      say(row.next());
      // The place is another's now.
      row.join(6);
      say(row.has(a));
    });
    expect(said).toBe('true 1 undefined true 5 2 4 3 undefined false');
  });

  it('give units to the first who waits, and to nobody before', async () => {
    const said = await played(({ units, shelf }, say) => {
      units.line.join(1, { amount: 2 });
      units.line.join(2, { amount: 2 });
      units.line.join(3);
      say(units.grant()?.value);
      say(units.grant());
      say(units.free);
      units.release(2);
      say([units.grant()?.value, units.grant()?.value, units.grant()]);
      units.resize(1);
      say(units.free);
      shelf.items.join(7);
      say(shelf.hand());
      shelf.line.join(8);
      const handed = shelf.hand();
      say([handed?.item.value, handed?.customer.value]);
    });
    expect(said).toBe('1 undefined 1 2,3, -2 undefined 7,8');
  });

  it('refuse what cannot be', async () => {
    const refused = (play: (lp: Played) => void) =>
      played(play).catch((error: Error) => error.message.replace(/^.*message \{\}: /, ''));
    const full = ({ row }: Played) => {
      for (let k = 0; k < 5; k++) row.join(k);
    };
    expect(await refused(full)).toMatch(/^played\.row: the line is full \(4 places\)/);
    expect(await refused(({ units }) => units.release())).toMatch(/units\.release\(1\): 0 in use/);
    expect(await refused(({ row }) => void row.patience(3))).toMatch(/nobody waits with it/);
    expect(await refused(({ row }) => void row.join('1' as never))).toMatch(/not a number/);
    expect(() => line(0)).toThrow('line(): 0: places must be a positive integer');
    expect(() => resource({ places: 1, capacity: Number.NaN })).toThrow('capacity: NaN');
    expect(() => store({ items: 0.5, places: 1 })).toThrow('store(), items: 0.5');
  });
});

describe('models of docs/parts.md', () => {
  const folder = mkdtempSync(join(tmpdir(), 'parts-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const text = readFileSync(new URL('../../docs/parts.md', import.meta.url), 'utf8');
  const models = [...text.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, model]) => model as string);

  it.each(models.map((model, k) => [k, model] as const))(
    'run in a folder without the package: %i',
    async (k, model) => {
      const path = join(folder, `model-${k}.ts`);
      writeFileSync(path, model);
      const { netEvents } = await simulate(path, { end: 50 });
      expect(netEvents).toBeGreaterThan(50);
    },
  );
});
