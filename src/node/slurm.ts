/**
 * The jobs that Slurm runs on this node, known by the control groups of their steps. Sources: Slurm's cgroup_v2.html,
 * cgroups.html, slurm.conf(5) PrologFlags=Contain.
 *
 *     sys/fs/cgroup/system.slice/slurmstepd.scope/job_1981063/step_extern     version 2; NODE_slurmstepd.scope where a
 *                                                                             machine is several nodes
 *     sys/fs/cgroup/freezer/slurm/uid_1000/job_1981063/step_0                 version 1; slurm_NODE likewise
 */
import type { NodeTree } from './tree.ts';

/** A job's control group; in version 1 there is one per controller. */
interface SlurmGroup {
  readonly job: string;
  /** Path in the tree, such as `sys/fs/cgroup/system.slice/slurmstepd.scope/job_7`. */
  readonly folder: string;
}

const TOP = 'sys/fs/cgroup';
const SLICE = `${TOP}/system.slice`;
const CONTROLLERS = ['freezer', 'memory', 'cpuset', 'cpu', 'cpuacct', 'cpu,cpuacct', 'devices'];

const SCOPE = /^(?:(.+)_)?slurmstepd\.scope$/;

const jobsIn = (tree: NodeTree, folder: string): SlurmGroup[] =>
  (tree.list(folder) ?? []).flatMap((name) => {
    const [, job] = /^job_(\d+)$/.exec(name) ?? [];
    return job === undefined ? [] : [{ job, folder: `${folder}/${name}` }];
  });

/** The control groups of its jobs, those of version 2 first; null if Slurm has no control group here, not even for itself. */
function slurmGroups(tree: NodeTree): SlurmGroup[] | null {
  const found: SlurmGroup[] = [];
  let there = false;
  for (const name of tree.list(SLICE) ?? []) {
    if (!SCOPE.test(name)) continue;
    there = true;
    found.push(...jobsIn(tree, `${SLICE}/${name}`));
  }
  for (const controller of CONTROLLERS) {
    for (const name of tree.list(`${TOP}/${controller}`) ?? []) {
      if (!/^slurm(_.+)?$/.test(name)) continue;
      there = true;
      const own = `${TOP}/${controller}/${name}`;
      for (const user of tree.list(own) ?? []) {
        if (/^uid_\d+$/.test(user)) found.push(...jobsIn(tree, `${own}/${user}`));
      }
    }
  }
  return there ? found : null;
}

/** The parent of the control groups of version 2, whose files are of the same formats. */
export const JOBS_PARENT = SLICE;

/**
 * Folders of the jobs' control groups of version 2, by job (`NODE/JOB` if a machine is several nodes); null if the
 * system has no such groups at all.
 */
export function unifiedJobs(tree: NodeTree): ReadonlyMap<string, string> | null {
  // Scopes appear with Slurm itself, so they are looked for seldom. Jobs are listed each time.
  const names = tree.devices(SLICE);
  if (names === null) return null;
  const found = new Map<string, string>();
  for (const name of names) {
    const [scope, node] = SCOPE.exec(name) ?? [];
    if (scope === undefined) continue;
    for (const { job, folder } of jobsIn(tree, `${SLICE}/${scope}`)) {
      found.set(node === undefined ? job : `${node}/${job}`, folder);
    }
  }
  return found;
}

/** Where slurm.conf is; the second path if slurmd gets it from its controller. */
const CONFIGURATIONS = ['etc/slurm/slurm.conf', 'run/slurm/conf/slurm.conf'];

/**
 * Ids of the jobs that Slurm runs here; null if it does not show them, or not all of them: without `PrologFlags=Contain` (which
 * `X11` implies) a job that starts no step has no control group.
 */
export function slurmJobs(tree: NodeTree): ReadonlySet<string> | null {
  const groups = slurmGroups(tree);
  if (groups === null) return null;
  const hasExtern = ({ folder }: SlurmGroup) => tree.list(folder)?.includes('step_extern') === true;
  const contains = () =>
    CONFIGURATIONS.some((path) =>
      /^\s*PrologFlags\s*=.*\b(contain|x11)\b/im.test(tree.text(path) ?? ''),
    );
  return groups.some(hasExtern) || contains() ? new Set(groups.map(({ job }) => job)) : null;
}
