/**
 * gpu_activity: lowers the frequency of GPUs whose cores are often idle. Source: GEOPM's geopm_agent_gpu_activity(7).
 */
import type { Platform } from '../platform.ts';
import {
  biased,
  checkPhi,
  type FrequencyRange,
  frequencyAt,
  phiOf,
  rangeFields,
} from './activity-range.ts';
import { type Agent, type AgentContext, type AgentKind, IDLE, PolicyError } from './agent.ts';
import { GPU_LIMITS, PinnedFrequency } from './pinned-frequency.ts';

const PHI = 'GPU_PHI';
const ACTIVITY = 'GPU_CORE_ACTIVITY';
const UTILIZATION = 'GPU_UTILIZATION';
const ENERGY = 'GPU_ENERGY';
const MOST = 'GPU_CORE_FREQUENCY_MAX_AVAIL';
const LEAST = 'GPU_CORE_FREQUENCY_MIN_AVAIL';
const EFFICIENT = 'CONST_CONFIG::GPU_FREQUENCY_EFFICIENT_HIGH_INTENSITY';

export const gpuActivity: AgentKind = {
  name: 'gpu_activity',
  help: 'lowers the frequency of GPUs whose cores are often idle',
  period: 0.02,
  policy: [{ name: PHI, unit: '', help: '0: performance, 1: energy; 0.5 where absent' }],
  open,
};

/** The range of frequencies, from the administrator's constant or the middle of the GPU's range. @throws PolicyError where the machine does not have the frequency */
function rangeOf(platform: Platform): FrequencyRange {
  const [least, most] = [platform.read(LEAST, 'board', 0), platform.read(MOST, 'board', 0)];
  if (platform.info(EFFICIENT) === null) return { efficient: (least + most) / 2, most };
  const efficient = platform.read(EFFICIENT, 'board', 0);
  if (efficient >= least && efficient <= most) return { efficient, most };
  throw new PolicyError(
    `gpu_activity: ${EFFICIENT} is ${efficient} Hz; these GPUs have ${least} to ${most} Hz`,
  );
}

/** A GPU's time and energy, from the first sample in which it is active to the last. */
class ActiveSpan {
  private start = Number.NaN;
  private stop = Number.NaN;
  private first = Number.NaN;
  private last = Number.NaN;

  take(time: number, joules: number): void {
    if (Number.isNaN(this.start)) {
      this.start = time;
      this.first = joules;
    }
    this.stop = time;
    this.last = joules;
  }

  /** A GPU that was never active has no lines, and one without an energy counter no line of energy. */
  fields(gpu: number): [string, number][] {
    const { start, stop, first, last } = this;
    if (Number.isNaN(start)) return [];
    const name = `GPU ${gpu} Active Region`;
    const energy = last - first;
    return [
      ...(Number.isNaN(energy) ? [] : ([[`${name} Energy`, energy]] as const)),
      [`${name} Time`, stop - start],
      [`${name} Start Time`, start],
      [`${name} Stop Time`, stop],
    ] as [string, number][];
  }
}

function open({ platform, allowControl, warn }: AgentContext): Agent {
  const validatePolicy: Agent['validatePolicy'] = (policy) =>
    checkPhi(gpuActivity.name, policy, PHI);
  if (!allowControl) {
    warn('gpu_activity changes nothing: --allow-control permits it to write frequency limits');
    return { ...IDLE, validatePolicy };
  }
  const { topology } = platform;
  const known = (name: string) => platform.info(name) !== null;
  // A signal of a coarser domain than chips is taken of the chip's GPU.
  const handleOf = (name: string, chip: number, gpu: number) => {
    if (!known(name)) return -1;
    const domain = platform.info(name)?.domain === 'gpu' ? 'gpu' : 'gpu_chip';
    return platform.push(name, domain, domain === 'gpu' ? gpu : chip);
  };
  const gpus = topology.indices('gpu').map((index) => ({
    index,
    span: new ActiveSpan(),
    energy: known(ENERGY) ? platform.push(ENERGY, 'gpu', index) : -1,
    chips: topology.within('gpu_chip', 'gpu', index).map((chip) => ({
      pin: new PinnedFrequency(platform, GPU_LIMITS, 'gpu_chip', chip),
      activity: platform.push(ACTIVITY, 'gpu_chip', chip),
      utilization: handleOf(UTILIZATION, chip, index),
    })),
  }));
  if (gpus.length === 0) warn('gpu_activity changes nothing: this machine has no GPU');
  const whole = gpus.length === 0 ? null : rangeOf(platform);
  let range = whole;
  let requests = 0;
  const sample = (handle: number) => (handle < 0 ? Number.NaN : platform.sample(handle));
  return {
    ...IDLE,
    validatePolicy,
    adjust: (policy) => {
      if (whole === null) return;
      range = biased(whole, phiOf(policy, PHI));
      for (const { chips } of gpus) {
        for (const { pin, activity, utilization } of chips) {
          const active = Math.min(1, sample(activity));
          const used = Math.min(1, sample(utilization));
          const share = used > 0 ? active / used : active;
          if (pin.set(frequencyAt(range, share, pin.hertz))) requests++;
        }
      }
    },
    sample: ({ time }) => {
      for (const { chips, span, energy } of gpus) {
        if (chips.some(({ activity }) => sample(activity) > 0)) span.take(time, sample(energy));
      }
    },
    reportHost: () => {
      if (range === null) return IDLE.reportHost();
      const spans = gpus.flatMap(({ span, index }) => span.fields(index));
      return new Map<string, number>([
        ['GPU Frequency Requests', requests],
        ...rangeFields(range, ''),
        ...spans,
      ]);
    },
  };
}
