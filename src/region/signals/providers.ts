/** The providers, in order of preference: of two that have a signal of the same alias, the first gives it. */
import { constConfig } from './const-config.ts';
import { cpufreq } from './cpufreq.ts';
import { cpuinfo } from './cpuinfo.ts';
import { cray } from './cray.ts';
import { derived } from './derived.ts';
import { drm } from './drm.ts';
import { hwmon } from './hwmon.ts';
import { msr } from './msr.ts';
import { nvml } from './nvml.ts';
import { perf } from './perf.ts';
import { powercap } from './powercap.ts';
import { proc } from './proc.ts';
import type { Provider } from './provider.ts';
import { resctrl } from './resctrl.ts';
import { simulatorOf } from './simulator.ts';
import { syntheticProvider } from './synthetic.ts';
import { time } from './time.ts';
import { uncore } from './uncore.ts';

/** A new provider is a file and an entry here. */
export const PROVIDERS: readonly Provider[] = [
  time,
  powercap,
  msr,
  perf,
  cpuinfo,
  cpufreq,
  uncore,
  resctrl,
  hwmon,
  drm,
  nvml,
  cray,
  proc,
  constConfig,
  simulatorOf(null),
  derived,
];

/** Those and the demo's, for the docs. */
export const ALL_PROVIDERS: readonly Provider[] = [...PROVIDERS, syntheticProvider];
