/**
 * Settings of the machine that may be written, such as power limits. The text of each is saved before its first
 * change, so that it can be restored: by the process that changed it, or by `region restore` if that was killed.
 */
import { closeSync, constants, ftruncateSync, readFileSync, writeSync } from 'node:fs';
import { resolve } from 'node:path';
import { openBelow } from '../os/trusted-file.ts';
import type { Machine } from './machine.ts';
import { ControlError, SignalError } from './signal-error.ts';
import type {
  Control,
  ControlDeclaration,
  ControlSetting,
  SignalDomain,
} from './signals/provider.ts';
import type { MachineTopology } from './topology.ts';

/** A setting as it was. JSON. */
export interface SavedSetting {
  /** Path of the file, or the setting's name if it is not a file. */
  readonly path: string;
  /** What it held, as it was read. */
  readonly text: string;
}

interface PushedControl {
  readonly control: ControlDeclaration;
  readonly settings: readonly ControlSetting[];
}

/** Settings are numbers. */
const VALUE = /^-?\d{1,20}$/;

/**
 * Settings of the machine, such as power limits: their previous values are saved in a file until they are restored.
 * @example
 * ```ts
 * import { Platform } from 'triscope/signals';
 *
 * const platform = Platform.open({ allowControl: true });
 * platform.controls.write('CPU_POWER_LIMIT_CONTROL', 'package', 0, 120); // W
 * platform.controls.restore();
 * platform.close();
 * ```
 */
export class Controls {
  private readonly folder: string;
  private readonly topology: MachineTopology;
  private readonly controls: readonly Control[];
  private readonly allowed: boolean;
  private readonly _saved = new Map<string, SavedSetting>();
  private readonly pushed: PushedControl[] = [];

  /** @param allowed whether settings may be written at all */
  constructor(machine: Machine, controls: readonly Control[], allowed: boolean) {
    this.folder = machine.path('sys');
    this.topology = machine.topology;
    this.controls = controls;
    this.allowed = allowed;
  }

  /** The controls that this machine has. */
  list(): readonly ControlDeclaration[] {
    return this.controls.map(({ name, alias, description, unit, domain, over }) => {
      return { name, ...(alias && { alias }), description, unit, domain, over };
    });
  }

  /**
   * Names a control at its native domain or a coarser one. Nothing is written yet, but the present setting is saved.
   * @param index number of the part of the machine within `domain`, from 0 on
   * @returns the handle for `adjust`
   * @throws SignalError if there is no such control, or not at this domain or index
   * @throws ControlError if controls are not allowed
   */
  push(name: string, domain: SignalDomain, index: number): number {
    const named = this.controls.filter((c) => c.name === name);
    const found = named.length > 0 ? named : this.controls.filter((c) => c.alias === name);
    const [control] = found;
    if (control === undefined) {
      const names = this.controls.flatMap((c) => [c.name, ...(c.alias ? [c.alias] : [])]);
      throw new SignalError(`there is no control ${name} on this machine`, name, names);
    }
    if (!this.topology.nests(control.domain, domain)) {
      throw new SignalError(
        `domain ${domain} is not valid for ${name}, which is set per ${control.domain} or coarser`,
      );
    }
    const indices = this.topology.within(control.domain, domain, index);
    // With GPUs of several makers, each GPU has the control of its own provider.
    const settingsAt = (at: number) =>
      found.map((one) => one.settings(at)).find((places) => places.length > 0) ?? [];
    const settings = indices.flatMap(settingsAt);
    if (settings.length === 0) {
      throw new SignalError(`${name}: there is no ${domain} ${index} with this control`);
    }
    if (!this.allowed) {
      throw new ControlError(
        `${name} is a setting of the machine: use --allow-control to write it`,
      );
    }
    for (const setting of settings) this.keep(setting);
    return this.pushed.push({ control, settings }) - 1;
  }

  /**
   * Writes a setting now.
   * @param handle what `push` returned
   * @param value in the control's unit
   * @throws ControlError if it cannot be written
   */
  adjust(handle: number, value: number): void {
    const { control, settings } = this.pushed[handle];
    const each = control.over === 'share' ? value / settings.length : value;
    if (!Number.isFinite(each)) throw new ControlError(`${control.name}: ${value} is not a number`);
    for (const setting of settings) {
      let text: string;
      try {
        text = setting.text(each);
      } catch (error) {
        throw new ControlError(`${control.name}: ${(error as Error).message}`);
      }
      this.put(setting, text);
    }
  }

  /**
   * `push` and `adjust` in one call.
   * @param index number of the part of the machine within `domain`, from 0 on
   * @param value in the control's unit
   * @throws SignalError, ControlError as `push` and `adjust`
   */
  write(name: string, domain: SignalDomain, index: number, value: number): void {
    this.adjust(this.push(name, domain, index), value);
  }

  /** The saved settings of all pushed controls. */
  saved(): readonly SavedSetting[] {
    return [...this._saved.values()];
  }

  /**
   * Restores settings that were saved, by this process or, in `saved`, by another; the last change first. Only settings that this
   * machine's controls write are restored, whatever `saved` names, because it comes from a file.
   * @throws ControlError after all were tried
   */
  restore(saved: readonly SavedSetting[] = this.saved()): void {
    const own = this.settings();
    let first: unknown;
    const putBack = ({ path, text }: SavedSetting): boolean => {
      try {
        const setting = own.get(resolve(path));
        if (setting === undefined) {
          throw new ControlError(`${path}: not a setting that Triscope changes on this machine`);
        }
        if (!VALUE.test(text)) throw new ControlError(`${path}: the saved value is not a number`);
        this.put(setting, text);
        return true;
      } catch (error) {
        first ??= error;
        return false;
      }
    };
    const failed = saved.toReversed().filter((setting) => !putBack(setting));
    // A second attempt: a limit that was restored later may have been in the way.
    first = undefined;
    for (const setting of failed) putBack(setting);
    if (first !== undefined) throw first;
  }

  /** The places that all controls set, by path. */
  private settings(): ReadonlyMap<string, ControlSetting> {
    const settings = this.controls.flatMap((control) =>
      this.topology.indices(control.domain).flatMap((index) => control.settings(index)),
    );
    return new Map(settings.map((setting) => [resolve(setting.path), setting]));
  }

  /** @throws ControlError */
  private put({ path, device }: ControlSetting, text: string): void {
    let file = -1;
    try {
      if (device !== undefined) {
        device.write(text);
        return;
      }
      // The file is never created: a setting that has vanished no longer exists.
      file = openBelow(this.folder, path, constants.O_WRONLY);
      ftruncateSync(file);
      writeSync(file, text);
    } catch (error) {
      throw new ControlError(`cannot write ${text} to ${path}: ${(error as Error).message}`);
    } finally {
      if (file >= 0) closeSync(file);
    }
  }

  private keep({ path, device }: ControlSetting): void {
    if (this._saved.has(path)) return;
    try {
      this._saved.set(path, { path, text: device?.read() ?? readFileSync(path, 'utf8').trim() });
    } catch (error) {
      throw new ControlError(`cannot read ${path}: ${(error as Error).message}`);
    }
  }
}
