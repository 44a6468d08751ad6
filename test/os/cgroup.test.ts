/** Memory limits of control groups, as both versions of control groups tell them. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { memoryLimitOf } from '../../src/os/cgroup.ts';
import { writeFolder } from '../query/support/recording.ts';

const root = mkdtempSync(join(tmpdir(), 'cgroup-'));
afterAll(() => rmSync(root, { recursive: true }));

const FILES = 'inactive_file 30\nactive_file 20\n';

it('version 2', () => {
  writeFolder(join(root, 'job'), {
    'memory.max': '1000\n',
    'memory.current': '900\n',
    'memory.stat': `${FILES}workingset_refault_anon 3\nworkingset_refault_file 40\n`,
    'memory.events': 'oom 2\noom_kill 1\n',
  });
  expect(memoryLimitOf(join(root, 'job'), root)).toEqual({
    ...{ cgroup: '/job', limit: 1000n, used: 850n, charged: 900n, killed: 1n },
    refaulted: 43n,
  });
});

it('version 1, of which totals include the groups below', () => {
  writeFolder(join(root, 'memory/job'), {
    'memory.limit_in_bytes': '1000\n',
    'memory.usage_in_bytes': '900\n',
    'memory.stat': `${FILES}workingset_refault_file 1\nworkingset_refault_anon 1\ntotal_inactive_file 300\ntotal_active_file 200\ntotal_workingset_refault_anon 0\ntotal_workingset_refault_file 50\n`,
    'memory.oom_control': 'oom_kill_disable 0\noom_kill 0\n',
  });
  expect(memoryLimitOf(join(root, 'memory/job'), root)).toEqual({
    ...{ cgroup: '/memory/job', limit: 1000n, used: 400n, charged: 900n, killed: 0n },
    refaulted: 50n,
  });
});

it('a kernel that does not count pages that come back', () => {
  writeFolder(join(root, 'old'), {
    ...{ 'memory.max': '1000\n', 'memory.current': '900\n', 'memory.stat': FILES },
  });
  expect(memoryLimitOf(join(root, 'old'), root)?.refaulted).toBeNull();
});

it('no limit', () => {
  writeFolder(join(root, 'free'), { 'memory.max': 'max\n', 'memory.current': '900\n' });
  expect(memoryLimitOf(join(root, 'free'), root)).toBeNull();
});
