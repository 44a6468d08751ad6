/**
 * The controller: finds the application's processes, samples them and the machine, attributes, traces and reports. Its
 * caller, `worker.ts`, decides when.
 */
import { readFileSync } from 'node:fs';
import { type Report, reportText, type TraceHeader } from '../../formats/geopm/write.ts';
import { HASH_UNMARKED } from '../../model/region-hash.ts';
import { clockPair, wallAt } from '../../os/wall-clock.ts';
import { isReplaceable, writeWhole } from '../../os/whole-file.ts';
import {
  type Agent,
  type AgentKind,
  type AgentSample,
  type Policy,
  policyText,
} from '../agents/index.ts';
import { parsePolicy } from '../agents/policy.ts';
import { EPOCH_ALL, EPOCH_SOME } from '../attribution.ts';
import { recordFilterFrom } from '../filters/index.ts';
import { Machine } from '../machine.ts';
import { Platform } from '../platform.ts';
import { simulatorOf } from '../signals/simulator.ts';
import { Application } from './application.ts';
import type { Deadlines } from './deadlines.ts';
import { Endpoint } from './endpoint.ts';
import { EventLog } from './event-log.ts';
import { hostReport } from './host-report.ts';
import { FilePeers } from './peers.ts';
import { nameOf } from './process-record.ts';
import { type ApplicationProcess, ProcessTable } from './process-table.ts';
import { SampleLog } from './sample-log.ts';
import { Sampled } from './sampled.ts';
import { forgetControls, saveControls } from './saved-controls.ts';
import { type ControllerSettings, checkWritable, OutputError, SettingsError } from './settings.ts';
import { startTimeText } from './start-time.ts';
import { type SampledColumn, traceColumns } from './trace-columns.ts';
import { TraceFile } from './trace-files.ts';

const RUNNING = 'the application was running when this was written';

/** How the command ended. */
export interface Ending {
  /** Such as `code 0`, `signal SIGKILL`. */
  readonly exit: string;
  readonly incomplete: string | null;
}

export class Controller {
  private readonly settings: ControllerSettings;
  private readonly platform: Platform;
  private readonly application: Application;
  private readonly table: ProcessTable;
  private readonly agent: Agent;
  private readonly peers: FilePeers | null;
  private readonly kind: AgentKind;
  private readonly sampled: Sampled;
  private readonly deadlines: Deadlines;
  private readonly columns: readonly SampledColumn[];
  private readonly trace: TraceFile | null;
  private readonly events: EventLog;
  /** Null if each sample is attributed at once. */
  private readonly log: SampleLog | null;
  private readonly endpoint: Endpoint | null;
  private readonly policy: Policy | null;
  /** Wall-clock time of `zero`, as files give it. */
  private startTime = startTimeText(clockPair().wall);
  private readonly time: number;
  private readonly watts: number;
  private readonly board: { readonly hash: number; readonly hint: number; readonly epochs: number };
  private readonly facts: AgentSample = { time: 0, hash: 0, hint: 0, epochs: 0 };
  private readonly warnings: string[] = [];
  private readonly say: (message: string) => void;
  /** ns of CLOCK_MONOTONIC. */
  private zero = 0;
  private attached = false;
  /** Whether all processes have ended, and a sample was taken since. */
  private idle = false;
  private startup = 0;
  /** When the first process began, as far as known; ns of CLOCK_MONOTONIC. */
  private started = Number.POSITIVE_INFINITY;
  private saved = 0;

  /**
   * Opens all that it needs, so that the user learns what is missing before the application starts.
   * @param say receives each warning once
   * @throws SettingsError, SignalError, ControlError, PolicyError, or the system's error if a file cannot be created
   */
  constructor(
    settings: ControllerSettings,
    kind: AgentKind,
    deadlines: Deadlines,
    say: (message: string) => void,
  ) {
    this.settings = settings;
    this.kind = kind;
    this.deadlines = deadlines;
    this.say = say;
    // The application's position is a signal of each CPU.
    this.application = new Application(new Machine(settings.root).topology.count('cpu'));
    const platform = Platform.open({
      root: settings.root,
      synthetic: settings.synthetic,
      allowControl: settings.allowControl,
      // Create the table before the first sample.
      providers: [this.application.provider(), simulatorOf(() => this.table?.all ?? [])],
    });
    this.platform = platform;
    this.time = platform.push('TIME', 'board', 0);
    const board = (name: string) => platform.push(name, 'board', 0);
    this.board = {
      hash: board('REGION_HASH'),
      hint: board('REGION_HINT'),
      epochs: board('EPOCH_COUNT'),
    };
    const hasPower = settings.live && platform.info('CPU_POWER') !== null;
    this.watts = hasPower ? board('CPU_POWER') : -1;
    const { reportSignals, traceSignals, compat, allowControl } = settings;
    this.sampled = new Sampled(platform, this.application, reportSignals, compat);
    const filter =
      settings.recordFilter === undefined ? null : recordFilterFrom(settings.recordFilter);
    const warn = (message: string) => this.warn(message);
    this.peers = settings.peers === undefined ? null : new FilePeers(settings.peers);
    this.agent = kind.open({ platform, allowControl, warn, peers: this.peers });
    this.policy = this.firstPolicy();
    const { endpoint } = settings;
    this.endpoint = endpoint === undefined ? null : new Endpoint(endpoint, kind, this.agent, warn);
    this.columns = settings.trace === undefined ? [] : traceColumns(platform, traceSignals);
    this.writeControls();
    const { trace, profileTrace } = settings;
    const columns = [...this.columns, ...this.agent.traceColumns];
    const fail = (error: Error) => this.warn(error.message);
    this.trace = trace === undefined ? null : new TraceFile(trace, columns, fail);
    this.events = new EventLog(settings, fail);
    this.table = new ProcessTable(settings.pages, (process) => this.events.drain(process), filter);
    const isPrompt = endpoint !== undefined || profileTrace !== undefined || filter !== null;
    this.log = isPrompt || !this.agent.mayLag ? null : new SampleLog(platform);
    platform.readBatch();
    this.writeReport(0, null, 'the application has not started');
  }

  private warn(message: string): void {
    if (this.warnings.includes(message)) return;
    this.warnings.push(message);
    this.say(message);
  }

  private firstPolicy(): Policy | null {
    const { policy: path } = this.settings;
    if (path === undefined) {
      const none = Object.fromEntries(this.kind.policy.map(({ name }) => [name, Number.NaN]));
      // With an endpoint the policy comes later.
      if (this.settings.endpoint !== undefined) return null;
      this.agent.validatePolicy(none);
      return none;
    }
    let text: string;
    try {
      text = readFileSync(path, 'utf8');
    } catch (error) {
      throw new SettingsError(`policy ${path}: ${(error as Error).message}`);
    }
    const policy = parsePolicy(this.kind, text, path);
    this.agent.validatePolicy(policy);
    return policy;
  }

  /** Saves the present settings in a file before anything is written. */
  private writeControls(): void {
    const { controls } = this.platform;
    const { initControls, savedControls, host } = this.settings;
    const pushed = initControls.map(([name, domain, index, value]) => {
      const handle = controls.push(name, this.platform.domain(domain), index);
      return [handle, value] as const;
    });
    if (controls.saved().length === 0) return;
    saveControls(savedControls, host, controls.saved());
    for (const [handle, value] of pushed) controls.adjust(handle, value);
  }

  private header(): TraceHeader {
    const { version, profile, host } = this.settings;
    return { version, startTime: this.startTime, profile, host, agent: this.kind.name };
  }

  /**
   * The command starts now: time zero.
   * @param now ns of CLOCK_MONOTONIC
   * @throws OutputError where a trace, or the report, cannot be written
   */
  begin(now: number): void {
    const zero = BigInt(Math.round(now));
    this.startTime = startTimeText(wallAt(zero));
    const head = this.header();
    this.trace?.begin(head);
    this.events.begin(now, head);
    this.zero = now;
    this.platform.timeZero = zero;
    this.saved = now;
    this.platform.readBatch();
    const read = this.platform.sample(this.time);
    this.sampled.begin(read);
    this.writeReport(now, null, RUNNING);
    // Of what went on before the first reading nothing is known.
    this.table.since = now + read * 1e9;
    this.look(this.table.since);
  }

  /** The caller will call `look` when the folder of pages changes. */
  set watched(is: boolean) {
    this.table.watched = is;
  }

  /**
   * Looks for processes that appeared, between samples.
   * @returns whether the first one appeared, which calls for a sample now
   */
  look(now: number): boolean {
    const before = this.attached;
    const changed = this.table.poll(now, true);
    this.catchUp();
    if (changed) this.attach(now);
    return this.attached !== before;
  }

  /** At the first process, the application's totals begin, outside all regions. */
  private attach(now: number): void {
    if (this.table.all.length === 0) return;
    const started = Math.min(...this.table.all.map((process) => process.started));
    if (started >= this.started) return;
    const time = (started - this.zero) / 1e9;
    this.started = started;
    if (this.attached) {
      // Its page was found after that of a process that began later.
      this.sampled.beginEarlier(time);
      return;
    }
    this.attached = true;
    this.startup = Math.max(0, (now - started) / 1e9);
    this.platform.readBatch();
    const places = this.table.active.map(({ hash, hint }) => ({ hash, hint }));
    for (const process of this.table.active) process.outside();
    this.application.update(time, this.table.active);
    this.sampled.beginAt(time, this.platform.sample(this.time));
    for (const [k, process] of this.table.active.entries()) Object.assign(process, places[k]);
    this.writeReport(now, null, RUNNING);
  }

  /** One sample. */
  sample(now: number): void {
    const changed = this.table.poll(now);
    if (!changed && this.log?.takes(now)) {
      this.platform.tick.read((now - this.zero) / 1e9);
      this.log.add(now, this.table);
      return;
    }
    this.catchUp();
    if (changed) this.attach(now);
    this.expect(now);
    this.readAt(now, changed);
    this.account(now, this.table.active, this.table.all.length);
    this.events.drainAll(this.table.active);
    if (this.log !== null) this.trace?.flush();
    if (now - this.saved > this.settings.saveEvery * 1e9) {
      this.writeReport(now, null, RUNNING);
    }
  }

  /** The sample was taken before the pages were read, so a beginning or end that they report may come after it. */
  private readAt(now: number, changed: boolean): void {
    const moment = changed ? this.table.latest(now) : now;
    this.platform.tick.read((moment - this.zero) / 1e9);
  }

  /** Attributes the samples that wait, with the processes that were known when each was taken. */
  private catchUp(): void {
    this.log?.replay((now, active, found) => this.account(now, active, found));
  }

  /**
   * Computes what depends on a sample.
   * @param found number of processes in the table that had been found by then
   */
  private account(now: number, active: readonly ApplicationProcess[], found: number): void {
    const time = (now - this.zero) / 1e9;
    // At exactly the time of the signal TIME, so that hints and sync-runtime advance together.
    this.application.update(this.platform.tick.time, active);
    this.platform.tick.compute();
    this.attribute(active, found);
    this.steer(time);
    this.traceRow();
  }

  /** The time between the end of the last process and the start of another does not belong to the application. */
  private attribute(active: readonly ApplicationProcess[], found: number): void {
    const isActive = active.length > 0 || !this.attached;
    // Asks for the present state: a look between samples may have seen its end.
    const wasActive = !this.idle;
    this.idle = !isActive;
    const now = this.platform.sample(this.time);
    const epochs = this.epochBits(found);
    const ended = wasActive ? this.table.pausedSince(active) : Number.NaN;
    if (!Number.isNaN(ended)) this.sampled.end((ended - this.zero) / 1e9, now, epochs);
    if (isActive) this.sampled.update(now, epochs);
  }

  private expect(now: number): void {
    const { timeout } = this.settings;
    if (this.attached || now - this.zero < timeout * 1e9) return;
    this.warn(`no process has marked a region within ${timeout} s: there will be totals only`);
  }

  /** In one line: where the application is now. @param now ns of CLOCK_MONOTONIC */
  status(now: number): string {
    this.catchUp();
    const { active, all } = this.table;
    const time = ((now - this.zero) / 1e9).toFixed(1);
    const places = new Map<string, number>();
    for (const { hash, page } of active) {
      const name = hash === HASH_UNMARKED ? 'no region' : nameOf(page, hash);
      places.set(name, (places.get(name) ?? 0) + 1);
    }
    const most = [...places].sort((a, b) => b[1] - a[1]).slice(0, 3);
    const where = most.map(([name, n]) => (n === active.length ? name : `${name} (${n})`));
    const watts = this.watts < 0 ? Number.NaN : this.platform.sample(this.watts);
    const power = Number.isNaN(watts) ? '' : `, ${watts.toFixed(1)} W`;
    const epochs = Math.max(0, ...all.map((process) => process.epochs));
    return (
      `${time} s: ${active.length} of ${all.length} processes run` +
      `${where.length === 0 ? '' : ` in ${where.join(', ')}`}` +
      `${epochs === 0 ? '' : `, epoch ${epochs}`}${power}`
    );
  }

  /** Of the first `found` processes. */
  private epochBits(found: number): number {
    const { all } = this.table;
    let some = 0;
    for (let k = 0; k < found; k++) if (all[k].epochs > 0) some++;
    if (some === 0) return 0;
    return some === found ? EPOCH_SOME | EPOCH_ALL : EPOCH_SOME;
  }

  private steer(time: number): void {
    const policy = this.endpoint?.policy(time) ?? this.policy;
    if (policy !== null) this.agent.adjust(policy);
    const facts = this.facts;
    facts.time = time;
    facts.hash = this.platform.sample(this.board.hash);
    facts.hint = this.platform.sample(this.board.hint);
    facts.epochs = this.platform.sample(this.board.epochs);
    this.agent.sample(facts);
  }

  private traceRow(): void {
    const { trace, columns } = this;
    if (trace === null) return;
    for (let k = 0; k < columns.length; k++) {
      const { handle } = columns[k];
      trace.values[k] = handle < 0 ? Number.NaN : this.platform.sample(handle);
    }
    this.agent.trace(trace.values, columns.length);
    trace.row();
  }

  /** Called when the command has ended: takes a last sample, writes the report, restores settings and closes all. */
  finish(now: number, ending: Ending): void {
    this.table.poll(now, true);
    this.catchUp();
    this.attach(now);
    this.readAt(now, true);
    this.application.update(this.platform.tick.time, this.table.active);
    this.platform.tick.compute();
    this.attribute(this.table.active, this.table.all.length);
    this.events.drainAll(this.table.active);
    for (const [, message] of this.table.refused) this.warn(message);
    for (const { page } of this.table.all) {
      if (page.cut) this.warn(`${page.path}: cut short while it was read; what came before counts`);
    }
    this.writeReport(now, ending.exit, ending.incomplete ?? this.unfinished());
    this.close(now);
  }

  private unfinished(): string | null {
    const { all, active } = this.table;
    if (this.settings.own) return null;
    if (active.length > 0) {
      return `${active.length} of ${all.length} processes ran on when the command had ended`;
    }
    const gone = all.filter((process) => !process.stopped && !process.replaced).length;
    return gone === 0 ? null : `${gone} of ${all.length} processes ended without saying so`;
  }

  /** @throws ControlError where a setting could not be put back */
  close(now: number): void {
    this.table.close(now);
    this.trace?.close();
    this.events.close();
    this.peers?.close();
    const { controls } = this.platform;
    if (controls.saved().length > 0) {
      controls.restore();
      forgetControls(this.settings.savedControls);
    }
    this.platform.close();
  }

  private writeReport(now: number, exit: string | null, incomplete: string | null): void {
    const { report: path } = this.settings;
    if (path === undefined) return;
    // A device or a pipe gets the report only once, at the end.
    if (exit === null && !isReplaceable(path)) {
      if (this.zero === 0) checkWritable('report', path);
      return;
    }
    this.saved = now;
    const text = reportText(this.report(now, exit, incomplete));
    try {
      writeWhole(path, text);
    } catch (error) {
      const failure = new OutputError('report', path, error);
      // An error before the application has started is reported at once, when its user can still correct the settings.
      if (this.zero === 0) throw failure;
      this.warn(failure.message);
    }
  }

  private report(now: number, exit: string | null, incomplete: string | null): Report {
    const { version, profile, host, compat, endpoint } = this.settings;
    const policy = this.policy === null ? '{}' : policyText(this.policy);
    const elapsed = this.zero === 0 ? 0 : (now - this.zero) / 1e9;
    const section = hostReport({
      ...{ host, compat, exit, incomplete, now, elapsed },
      processes: this.table.all,
      sampled: this.sampled,
      agent: this.agent,
      punctuality: this.deadlines.punctuality,
      period: this.deadlines.period,
      ...{ zero: this.zero, startup: this.startup, warnings: this.warnings },
    });
    return {
      ...{ version, profile },
      startTime: this.startTime,
      agent: this.kind.name,
      policy: endpoint === undefined ? policy : 'DYNAMIC',
      agentHeader: this.agent.reportHeader(),
      hosts: [section],
    };
  }
}
