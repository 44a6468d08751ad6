// One run of workload M for bench/instrument.mjs: node bench/instrument-run.mjs '{"settings": …}'.
// Prints one JSON object: seconds and CPU seconds (all threads) per committed event once the run is warm, records,
// bytes, peak memory.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { simulate } from 'triscope/sim';

const { settings } = JSON.parse(process.argv[2]);
/** Seconds after which all hot code is compiled, in the time of the run. */
const WARM = Number(process.env.WARM ?? 1.5);
/** Time, CPU time and committed events when the run was warm, and at the last progress. */
let from = null;
let to = null;
function progress({ seconds, committed }) {
  if (seconds < WARM) return;
  const { user, system } = process.cpuUsage();
  to = { seconds, cpu: (user + system) / 1e6, committed };
  from ??= to;
}

const folder = mkdtempSync(join(tmpdir(), 'triscope-bench-'));
try {
  const off = { gvt: false, rt: false, vt: false };
  const instrument = settings.instrument && { engine: off, model: off, ...settings.instrument };
  const r = await simulate(
    'phold',
    {
      lookahead: 0.1,
      batch: 64,
      options: { 'total-lps': 1024 },
      ...settings,
      ...(instrument && { instrument }),
    },
    {
      onProgress: progress,
      instrument: {
        files: { path: join(folder, 'stats-output'), prefix: 'ross-stats' },
        frames: null,
        version: '',
        settings: [],
      },
    },
  );
  if (from === null || to.committed === from.committed) throw new Error('too short: raise END');
  const events = to.committed - from.committed;
  console.log(
    JSON.stringify({
      wall: r.wallSeconds,
      perEvent: (to.seconds - from.seconds) / events,
      cpuPerEvent: (to.cpu - from.cpu) / events,
      net: r.netEvents,
      processed: r.eventsProcessed,
      rss: r.peakRssBytes,
      gvts: r.gvtComputations,
      bytes: r.instrumentation?.bytes ?? 0,
      filled: r.streams.reduce((n, s) => n + s.bytes, 0),
      waited: r.streams.reduce((n, s) => n + s.waitedMs, 0),
      dropped: r.streams.reduce((n, s) => n + s.droppedRecords, 0),
    }),
  );
} finally {
  rmSync(folder, { recursive: true, force: true });
}
