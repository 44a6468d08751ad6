/** power_balancer on hosts whose epochs take as long as their power lets them. */
import { describe, expect, it } from 'vitest';
import type { Peers } from '../../../src/region/agents/agent.ts';
import { PackageBalance } from '../../../src/region/agents/package-balance.ts';
import { powerBalancer } from '../../../src/region/agents/power-balancer.ts';
import { cpus, type Files } from '../signals/support/tree.ts';
import { Host } from './support.ts';

const LIMIT = (pack: number) => `sys/class/powercap/intel-rapl:${pack}/constraint_0_power_limit_uw`;

/** RAPL of `count` packages of one CPU, 80 to 200 W each. */
const rapl = (count: number): Files => ({
  ...cpus(Array.from({ length: count }, (_, pack) => [pack, 0] as const)),
  ...Object.fromEntries(
    Array.from({ length: count }, (_, pack) => pack).flatMap((pack) => {
      const zone = `sys/class/powercap/intel-rapl:${pack}`;
      return [
        [`${zone}/name`, `package-${pack}`],
        [`${zone}/constraint_0_name`, 'long_term'],
        [`${zone}/constraint_0_power_limit_uw`, 200e6],
        [`${zone}/constraint_0_max_power_uw`, 200e6],
        [`${zone}/constraint_0_min_power_uw`, 80e6],
        [`${zone}/constraint_0_time_window_us`, 976],
      ];
    }),
  ),
});

/** A package that needs `joules` for the work of an epoch, and waits `waits` seconds of it for others. */
class Package {
  readonly joules: number;
  readonly waits: number;
  private left = 0;
  private waited = 0;

  constructor(joules: number, waits = 0) {
    this.joules = joules;
    this.waits = waits;
  }

  seconds(watts: number): number {
    return this.joules / watts;
  }

  /** Epochs and seconds waited that end within `seconds`. */
  pass(seconds: number, watts: number): [number, number] {
    this.left += seconds;
    const each = this.seconds(watts) + this.waits;
    const epochs = Math.floor(this.left / each);
    this.left -= epochs * each;
    this.waited += epochs * this.waits;
    return [epochs, this.waited];
  }
}

class Balanced extends Host {
  readonly packages: readonly Package[];
  private readonly plant;

  constructor(packages: readonly Package[], peers: Peers | null = null) {
    const per = () => ({ domain: 'package' as const, values: new Float64Array(packages.length) });
    const plant = { EPOCH_COUNT: per(), TIME_HINT_NETWORK: per(), TIME_HINT_IGNORE: per() };
    super(powerBalancer, rapl(packages.length), plant, peers);
    this.packages = packages;
    this.plant = plant;
  }

  get limits(): number[] {
    return this.packages.map((_, pack) => this.number(LIMIT(pack)) / 1e6);
  }

  get watts(): number {
    return this.limits.reduce((sum, watts) => sum + watts, 0);
  }

  /** s that the slowest package needs for an epoch. */
  get slowest(): number {
    return Math.max(...this.packages.map((one, k) => one.seconds(this.limits[k])));
  }

  pass(policy: Readonly<Record<string, number>>, seconds = 0.02): void {
    for (const [k, one] of this.packages.entries()) {
      const [epochs, waited] = one.pass(seconds, this.limits[k]);
      this.plant.EPOCH_COUNT.values[k] += epochs;
      this.plant.TIME_HINT_NETWORK.values[k] = waited;
    }
    this.step(policy, seconds);
  }
}

/** What hosts tell each other, at once. */
function meeting(count: number): Peers[] {
  const told: (readonly number[] | undefined)[] = Array.from({ length: count });
  let ordered: readonly number[] | null = null;
  return told.map((_, host) => ({
    leads: host === 0,
    tell: (message) => {
      told[host] = message;
    },
    told: () => (told.includes(undefined) ? null : (told as (readonly number[])[])),
    order: (message) => {
      ordered = message;
    },
    ordered: () => ordered,
  }));
}

describe('power_balancer', () => {
  it('on one host gives power of the package with short epochs to the other, within the limit', () => {
    const host = new Balanced([new Package(10), new Package(14)]);
    const even = 14 / 140;
    for (let k = 0; k < 5000; k++) host.pass({ CPU_POWER_LIMIT: 280 });
    const [first, second] = host.limits;
    expect(host.watts).toBeLessThanOrEqual(280);
    expect(second).toBeGreaterThan(first + 15);
    // Perfectly shared, both would take 24/280 = 0.0857 s.
    expect(host.slowest).toBeLessThan(0.93 * even);
    expect(host.report()).toMatchObject({ 'Power limit at the end (W)': host.watts });
    expect(host.number('sys/class/powercap/intel-rapl:0/constraint_0_time_window_us')).toBe(15_000);
    host.platform.controls.restore();
    expect(host.limits).toEqual([200, 200]);
  });

  it('on two hosts balances their budgets: on average the limit, the slow host has more', () => {
    const peers = meeting(2);
    const hosts = [
      new Balanced([new Package(9)], peers[0]),
      new Balanced([new Package(12)], peers[1]),
    ];
    const even = 12 / 120;
    let most = 0;
    for (let k = 0; k < 5000; k++) {
      for (const host of hosts) host.pass({ CPU_POWER_LIMIT: 120 });
      if (k > 1) most = Math.max(most, hosts[0].watts + hosts[1].watts);
    }
    expect(most).toBeLessThanOrEqual(240 + 1e-6);
    expect(hosts[1].watts).toBeGreaterThan(hosts[0].watts + 15);
    expect(Math.max(hosts[0].slowest, hosts[1].slowest)).toBeLessThan(0.93 * even);
  });

  it('does not count what epochs wait for others', () => {
    // The first waits for the second: as a whole their epochs take equally long.
    const host = new Balanced([new Package(10, 0.03), new Package(14)]);
    for (let k = 0; k < 5000; k++) host.pass({ CPU_POWER_LIMIT: 280 });
    expect(host.limits[1]).toBeGreaterThan(host.limits[0] + 15);
  });

  it('lowers no limit below the least, raises none above the largest', () => {
    const host = new Balanced([new Package(1), new Package(20)]);
    for (let k = 0; k < 2500; k++) {
      host.pass({ CPU_POWER_LIMIT: 300 });
      expect(Math.min(...host.limits)).toBeGreaterThanOrEqual(80);
      expect(Math.max(...host.limits)).toBeLessThanOrEqual(200);
    }
    expect(host.limits[1]).toBe(200);
  });

  it('begins anew with another limit', () => {
    const host = new Balanced([new Package(10), new Package(10)]);
    for (let k = 0; k < 300; k++) host.pass({ CPU_POWER_LIMIT: 300 });
    for (let k = 0; k < 3; k++) host.pass({ CPU_POWER_LIMIT: 200 });
    expect(host.limits).toEqual([100, 100]);
  });

  it('refuses limits that the machine does not have; takes the design power where there is none', () => {
    const host = new Balanced([new Package(10), new Package(10)]);
    const validate = (watts: number) => () => host.agent.validatePolicy({ CPU_POWER_LIMIT: watts });
    expect(validate(100)).toThrow('CPU_POWER_LIMIT 100: this machine has 160 to 400 W');
    expect(validate(Number.NaN)).not.toThrow();
    host.pass({ CPU_POWER_LIMIT: Number.NaN });
    expect(host.watts).toBe(400);
  });

  it('lowers by half as much where a package had nothing to leave, and never below 1/8 W', () => {
    const balance = new PackageBalance(0);
    const lowered = () => {
      balance.allow(100);
      for (let k = 0; k < 9; k++) balance.measure(0.1, 1);
      balance.aim(1);
      balance.approach(0.1, 1);
      return 100 - balance.limit;
    };
    expect(lowered()).toBe(8);
    for (let k = 0; k < 9; k++) {
      balance.allow(100);
      expect(balance.leave()).toBe(0);
    }
    expect(lowered()).toBe(0.125);
  });
});
