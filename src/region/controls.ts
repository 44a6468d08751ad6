/**
 * Settings of the machine that may be written, such as power limits. Every file's text is kept before its first
 * change, so that whoever changed it (or whoever cleans up behind one that was killed) can put it back.
 */
import { closeSync, constants, openSync, readFileSync, writeSync } from 'node:fs';
import { ControlError, SignalError } from './signal-error.ts';
import type { Control, ControlDeclaration, Setting, SignalDomain } from './signals/provider.ts';
import type { Topology } from './topology.ts';

/** A file as it was. JSON. */
export interface SavedSetting {
  readonly path: string;
  readonly text: string;
}

interface PushedControl {
  readonly control: Control;
  readonly settings: readonly Setting[];
}

/** @throws ControlError */
function put(path: string, text: string): void {
  let file = -1;
  try {
    // Never made anew: a setting that has vanished is not one.
    file = openSync(path, constants.O_WRONLY | constants.O_TRUNC);
    writeSync(file, text);
  } catch (error) {
    throw new ControlError(`cannot write ${text} to ${path}: ${(error as Error).message}`);
  } finally {
    if (file >= 0) closeSync(file);
  }
}

/** Writes back what was kept, the last change first. @throws ControlError after all were tried */
export function restoreSettings(saved: readonly SavedSetting[]): void {
  let first: unknown;
  for (const { path, text } of [...saved].reverse()) {
    try {
      put(path, text);
    } catch (error) {
      first ??= error;
    }
  }
  if (first !== undefined) throw first;
}

export class Controls {
  readonly #topology: Topology;
  readonly #controls: readonly Control[];
  readonly #allowed: boolean;
  readonly #saved = new Map<string, SavedSetting>();
  readonly #pushed: PushedControl[] = [];

  constructor(topology: Topology, controls: readonly Control[], allowed: boolean) {
    this.#topology = topology;
    this.#controls = controls;
    this.#allowed = allowed;
  }

  /** The controls that this machine has. */
  list(): readonly ControlDeclaration[] {
    return this.#controls.map(({ name, alias, description, unit, domain, over }) => {
      return { name, ...(alias && { alias }), description, unit, domain, over };
    });
  }

  /**
   * Names a control at its native domain or a coarser one. Nothing is written yet, but what is there is kept.
   * @throws SignalError where there is no such control, or not at this domain or index
   * @throws ControlError where controls are not allowed
   */
  push(name: string, domain: SignalDomain, index: number): number {
    const control =
      this.#controls.find((c) => c.name === name) ?? this.#controls.find((c) => c.alias === name);
    if (control === undefined) {
      const names = this.#controls.flatMap((c) => [c.name, ...(c.alias ? [c.alias] : [])]);
      throw new SignalError(`there is no control ${name} on this machine`, name, names);
    }
    if (!this.#topology.nests(control.domain, domain)) {
      throw new SignalError(
        `domain ${domain} is not valid for ${name}: it is set by ${control.domain}, or coarser`,
      );
    }
    const indices = this.#topology.within(control.domain, domain, index);
    const settings = indices.flatMap((at) => control.settings(at));
    if (settings.length === 0) {
      throw new SignalError(`${name}: there is no ${domain} ${index} that has it`);
    }
    if (!this.#allowed) {
      throw new ControlError(
        `${name} is a setting of the machine: --allow-control permits writing it`,
      );
    }
    for (const { path } of settings) this.#keep(path);
    return this.#pushed.push({ control, settings }) - 1;
  }

  /** Writes a value, in the control's unit, now. @throws ControlError */
  adjust(handle: number, value: number): void {
    const { control, settings } = this.#pushed[handle];
    const each = control.over === 'share' ? value / settings.length : value;
    if (!Number.isFinite(each)) throw new ControlError(`${control.name}: ${value} is no number`);
    for (const setting of settings) {
      let text: string;
      try {
        text = setting.text(each);
      } catch (error) {
        throw new ControlError(`${control.name}: ${(error as Error).message}`);
      }
      put(setting.path, text);
    }
  }

  /** @throws SignalError, ControlError as `push` and `adjust` */
  write(name: string, domain: SignalDomain, index: number, value: number): void {
    this.adjust(this.push(name, domain, index), value);
  }

  /** Every pushed control's files as they were. */
  saved(): readonly SavedSetting[] {
    return [...this.#saved.values()];
  }

  /** Puts them back. @throws ControlError after all were tried */
  restore(): void {
    restoreSettings(this.saved());
  }

  #keep(path: string): void {
    if (this.#saved.has(path)) return;
    try {
      this.#saved.set(path, { path, text: readFileSync(path, 'utf8').trim() });
    } catch (error) {
      throw new ControlError(`cannot read ${path}: ${(error as Error).message}`);
    }
  }
}
