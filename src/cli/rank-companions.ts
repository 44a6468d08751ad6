/**
 * What is recorded beside a run over MPI: by the first rank of each host, into files on its own machine, which in the end
 * go to rank 0's recording.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { deserialize, serialize } from 'node:v8';
import { joinReports } from '../formats/geopm/write.ts';
import type { RecordingClock, RecordingSource } from '../model/recording.ts';
import { ENV_AUTO, ENV_DIR } from '../model/region-layout.ts';
import { launchedRank } from '../os/mpi/launcher.ts';
import type { MpiWorld } from '../os/mpi/world.ts';
import { type ScratchFolder, scratchFolder } from '../os/scratch.ts';
import { type Beside, Companions, REPORT } from './companions.ts';
import { pagesOfJob } from './launched-job.ts';

interface RankCompanionRequest extends Beside {
  /** Name of the run. */
  readonly profile: string;
  /** The recording's folder, on rank 0. */
  readonly folder: string;
}

/** What one host's first rank hands over. */
export interface RankHostFiles {
  readonly rank: number;
  /** Path in the recording, and content. */
  readonly node: readonly [path: string, bytes: Uint8Array] | null;
  readonly report: string | null;
}

/** Makes this rank mark what it does. Before the world is opened: its calls are marked too. */
export async function markRank(): Promise<string> {
  const pages = pagesOfJob(launchedRank()?.job ?? `${process.pid}`);
  process.env[ENV_DIR] = pages;
  process.env[ENV_AUTO] = 'sim';
  await import('../region/auto.ts');
  return pages;
}

export class RankCompanions {
  private readonly world: MpiWorld;
  private readonly request: RankCompanionRequest;
  /** Of this host's first rank, and the folder of its files where that is not the recording's. */
  private readonly own: Companions | null;
  private readonly scratch: ScratchFolder | null;

  private constructor(
    world: MpiWorld,
    request: RankCompanionRequest,
    own: Companions | null,
    scratch: ScratchFolder | null,
  ) {
    this.world = world;
    this.request = request;
    this.own = own;
    this.scratch = scratch;
  }

  /** All ranks call it, and wait for each other. @param pages what `markRank` gave */
  static async start(
    world: MpiWorld,
    request: RankCompanionRequest,
    pages: string | undefined,
  ): Promise<RankCompanions> {
    const leads = (launchedRank()?.localRank ?? 0) === 0;
    const first = world.rank === 0;
    const scratch = first || !leads ? null : scratchFolder('triscope-host-');
    const folder = scratch?.path ?? request.folder;
    const own = leads
      ? await Companions.start({
          ...request,
          folder,
          ...(pages !== undefined && { pages }),
        })
      : null;
    world.meet();
    return new RankCompanions(world, request, own, scratch);
  }

  /** Ends them; files of all hosts are then in rank 0's folder. All ranks call it, once their PEs have ended. */
  async stop(): Promise<readonly RankHostFiles[]> {
    // Each host's first rank looks at pages of the others until then.
    this.world.meet();
    await this.own?.stop();
    const parts = this.world.gather(serialize(this.files()));
    this.scratch?.remove();
    const hosts = (parts ?? []).flatMap(
      (bytes) => (deserialize(bytes) as RankHostFiles | null) ?? [],
    );
    this.write(hosts);
    return hosts;
  }

  private files(): RankHostFiles | null {
    const own = this.own;
    if (own === null) return null;
    const { nodeFile, report } = own;
    const folder = this.scratch?.path ?? this.request.folder;
    return {
      rank: this.world.rank,
      node: nodeFile === null ? null : [relative(folder, nodeFile), readFileSync(nodeFile)],
      report: report === null ? null : readFileSync(report, 'utf8'),
    };
  }

  private write(hosts: readonly RankHostFiles[]): void {
    const { folder } = this.request;
    for (const { rank, node } of hosts) {
      if (rank === 0 || node === null) continue;
      const path = join(folder, node[0]);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, node[1]);
    }
    const reports = hosts.flatMap(({ report }) => report ?? []);
    if (reports.length > 0) writeFileSync(join(folder, REPORT), joinReports(reports));
  }
}

/** As parts of the recording. @param hosts as `stop` gave them; rankHosts names by rank */
export function hostSources(
  hosts: readonly RankHostFiles[],
  rankHosts: readonly string[],
  clocks: readonly RecordingClock[],
  zero: string,
): RecordingSource[] {
  const sources = hosts.flatMap(({ rank, node }): RecordingSource[] => {
    if (node === null) return [];
    const host = rankHosts[rank];
    const ahead = clocks.find((clock) => clock.host === host)?.start.wall;
    return [
      {
        name: rank === 0 ? 'node' : `node ${host}`,
        files: [{ path: node[0], format: 'tacc' }],
        zero,
        droppedBytes: 0,
        ...(ahead !== undefined && { ahead }),
      },
    ];
  });
  if (!hosts.some(({ report }) => report !== null)) return sources;
  const files = [{ path: REPORT, format: 'geopm' }];
  return [...sources, { name: 'regions', files, zero, droppedBytes: 0 }];
}
