/** Rollbacks of a run that goes on: the server is asked for them, and follows them only while it is. */
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { LiveBus, startServer } from '../../../src/live/index.ts';
import { LiveRollbacks } from '../../../src/live/simulation/live-rollbacks.ts';
import { ROSS_ROLLBACK } from '../../../src/model/schemas/ross.ts';
import type { CascadeList } from '../../../src/view/simulation/cascades.ts';
import { json, refusal, until } from '../support/ask.ts';
import { batch, peBatch, type Row } from '../support/samples.ts';

/** Number `id` of PE 0, which undid `undone` events; caused by `parent`, if any. */
const rollback = (id: number, undone: number, parent = 0): Row => ({
  ...{ pe_id: 0, kp_id: id % 2, rollback_id: id, real_time: id / 10, events_undone: undone },
  ...{ parent_pe: 0, parent_id: parent, cause: parent === 0 ? 'straggler' : 'cancellation' },
});
const publish = (bus: LiveBus, ...rows: Row[]) => bus.publish(batch(ROSS_ROLLBACK, rows));

describe('rollbacks of a run that goes on', () => {
  it('are listed, tied into cascades and counted by who caused them, those before the first question too', async () => {
    const bus = new LiveBus({ title: 'run' });
    const live = await startServer({ bus });
    const ask = <T>(route: string) => json<T>(live.port, `/api/${route}`);
    bus.publish(peBatch(0));
    publish(bus, rollback(1, 5), rollback(2, 7, 1), rollback(3, 4));
    const listed = () => ask<CascadeList & { recorded: number }>('cascades?from=0&to=9');
    await until(async () => (await listed()).recorded === 3);
    expect(await listed()).toMatchObject({ count: 2, undone: 16, undoneByParents: 7 });
    expect(await ask('cascades/tree?pe=0&id=1')).toMatchObject({
      nodes: [
        { id: 1, parent: -1 },
        { id: 2, parent: 0 },
      ],
      left: 0,
    });
    publish(bus, rollback(4, 9, 3));
    await until(async () => (await listed()).recorded === 4);
    expect((await listed()).cascades[0]).toMatchObject({ id: 3, undone: 13 });
    const { rollbacks, total } = await ask<{ rollbacks: { id: number }[]; total: number }>(
      'rollbacks?from=0&to=9&within=0/0',
    );
    expect([rollbacks.map(({ id }) => id), total]).toEqual([[2, 4], 2]);
    expect(await refusal(live.port, '/api/cascades/tree?pe=0&id=99')).toEqual({
      ...{ status: 404, error: 'PE 0 has no rollback 99' },
    });
    await live.close();
  });

  it('are followed while somebody asks, from what the bus still has', async () => {
    const bus = new LiveBus();
    publish(bus, rollback(1, 1));
    expect(bus.followers).toBe(0);
    const live = new LiveRollbacks(bus, 100, 50);
    const first = live.get();
    expect([first.length, bus.followers]).toEqual([1, 1]);
    bus.publish(peBatch(0));
    publish(bus, rollback(2, 1));
    expect([live.get().length, first.length]).toEqual([2, 1]);
    await until(() => bus.followers === 0);
    publish(bus, rollback(3, 1));
    await sleep(1);
    expect([live.get().length, bus.followers, bus.skipped]).toEqual([3, 1, 0]);
    live.close();
    expect(bus.followers).toBe(0);
  });
});
