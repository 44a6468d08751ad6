/** Ctrl-C, and readers that go away. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { fixture, type Outcome, temporaryFolder, triscope } from './support/run.ts';

interface Interrupted extends Outcome {
  /** State in its recording. */
  readonly state: string;
  /** Milliseconds from the last signal to the end. */
  readonly late: number;
}

/** Sends SIGINT once the run has begun (its recording is there), and again after each of these pauses. */
async function interrupt(
  args: readonly string[],
  ...pauses: readonly number[]
): Promise<Interrupted> {
  const cwd = temporaryFolder();
  const file = join(cwd, 'a.tri', 'recording.json');
  let last = 0;
  const outcome = await triscope(['sim', 'run', ...args, '--record=a'], {
    cwd,
    meanwhile: (child) => {
      const kill = () => {
        last = performance.now();
        child.kill('SIGINT');
      };
      const timer = setInterval(() => {
        if (!existsSync(file)) return;
        clearInterval(timer);
        let at = 400;
        for (const pause of [0, ...pauses]) {
          at += pause;
          setTimeout(kill, at);
        }
      }, 20);
    },
  });
  const { state } = JSON.parse(readFileSync(file, 'utf8'));
  return { ...outcome, state, late: performance.now() - last };
}

const ENDLESS = ['phold', '--end=1e9'];

/** The same of a run that can stop: where a busy machine gives it no CPU for as long as it has to, it is tried again. */
async function stopped(args: readonly string[], ...pauses: readonly number[]) {
  for (let left = 10; ; left--) {
    const one = await interrupt(args, ...pauses);
    if (left === 0 || !one.err.includes('it had not stopped')) return one;
  }
}

describe('Ctrl-C', () => {
  test('gives partial statistics, marked so, and code 130', async () => {
    const [one, two] = await Promise.all([
      stopped(ENDLESS),
      stopped([...ENDLESS, '--pes=2', '--json']),
    ]);
    expect([one.code, two.code]).toEqual([130, 130]);
    expect([one.state, two.state]).toEqual(['interrupted', 'interrupted']);
    expect(one.out).toMatch(/^Interrupted at virtual time [\d.]+ of 1000000000: .* partial\.\n/);
    expect(one.out).toContain('Net Events Processed');
    const result = JSON.parse(two.out);
    expect(result.finished).toBe(false);
    expect(result.gvt).toBeLessThan(1e9);
  });

  test('a second one ends a run that does not stop', async () => {
    const args = [fixture('misbehave.ts'), '--what=loop'];
    const both = await Promise.all(
      ['--pes=1', '--pes=2'].map((pes) => interrupt([...args, pes], 800)),
    );
    expect(both.map(({ code }) => code)).toEqual([130, 130]);
    for (const { late } of both) expect(late).toBeLessThan(20_000);
  });

  test('the same signal twice, as npm and timeout(1) send it, is one', async () => {
    const { code, out } = await stopped(ENDLESS, 5);
    expect(code).toBe(130);
    expect(out).toContain('Interrupted at virtual time');
  });
});

test('a closed pipe is silent', async () => {
  const { code, err } = await triscope(['sim', 'models', '--json'], {
    meanwhile: (child) => child.stdout?.destroy(),
  });
  expect(err).toBe('');
  expect(code).toBe(0);
});
