/** Pins a frequency by two limits, the minimum and the maximum. */
import type { Platform } from '../platform.ts';
import type { SignalDomain } from '../signals/domains.ts';

/** Names of the controls, and of the signal of the largest frequency that is allowed. */
export interface FrequencyLimits {
  readonly least: string;
  readonly most: string;
  readonly now: string;
}

export const UNCORE_LIMITS: FrequencyLimits = {
  least: 'CPU_UNCORE_FREQUENCY_MIN_CONTROL',
  most: 'CPU_UNCORE_FREQUENCY_MAX_CONTROL',
  now: 'UNCORE::FREQUENCY_MAX',
};

export const GPU_LIMITS: FrequencyLimits = {
  least: 'GPU_CORE_FREQUENCY_MIN_CONTROL',
  most: 'GPU_CORE_FREQUENCY_MAX_CONTROL',
  now: 'DRM::GPU_CORE_FREQUENCY_MAX',
};

/** Whether this machine has a control of that name. */
export const hasControl = (platform: Platform, name: string): boolean =>
  platform.controls.list().some((control) => control.alias === name || control.name === name);

export class PinnedFrequency {
  private readonly platform: Platform;
  private readonly least: number;
  private readonly most: number;
  private readonly largest: () => number;
  /** The frequency in Hz that was set; NaN: none yet. */
  hertz = Number.NaN;

  /** @throws SignalError, ControlError where these limits cannot be written */
  constructor(platform: Platform, limits: FrequencyLimits, domain: SignalDomain, index: number) {
    this.platform = platform;
    this.least = platform.controls.push(limits.least, domain, index);
    this.most = platform.controls.push(limits.most, domain, index);
    // Without a signal of the present maximum, the two may be written in either order.
    const isKnown = platform.info(limits.now) !== null;
    this.largest = () => (isKnown ? platform.read(limits.now, domain, index) : Number.NaN);
  }

  /**
   * Writes both limits, unless they have this value already. The kernel refuses a minimum above the maximum, so the limit in the way is moved first.
   * Returns whether it wrote. @throws ControlError
   */
  set(hertz: number): boolean {
    if (hertz === this.hertz) return false;
    const before = Number.isNaN(this.hertz) ? this.largest() : this.hertz;
    const handles = hertz > before ? [this.most, this.least] : [this.least, this.most];
    for (const handle of handles) this.platform.controls.adjust(handle, hertz);
    this.hertz = hertz;
    return true;
  }
}
