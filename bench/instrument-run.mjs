// One run of workload M for bench/instrument.mjs: node bench/instrument-run.mjs '{"settings": …}'.
// Prints one JSON object: rates, CPU time of the whole process (all threads), peak memory, records.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { simulate } from 'triscope/sim';

const { settings } = JSON.parse(process.argv[2]);
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
      instrument: {
        files: { path: join(folder, 'stats-output'), prefix: 'ross-stats' },
        frames: null,
        version: '',
        settings: [],
      },
    },
  );
  const { user, system } = process.resourceUsage
    ? { user: process.resourceUsage().userCPUTime, system: process.resourceUsage().systemCPUTime }
    : { user: 0, system: 0 };
  console.log(
    JSON.stringify({
      wall: r.wallSeconds,
      cpu: (user + system) / 1e6,
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
