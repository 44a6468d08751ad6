/** Light or dark: as chosen, or as in the system. Canvases are painted again when it changes. */
import type { Theme } from '../state.ts';

class Scheme {
  dark = $state(false);
  private theme: Theme = 'system';
  private readonly system = matchMedia('(prefers-color-scheme: dark)');

  constructor() {
    this.system.addEventListener('change', () => this.set(this.theme));
    this.set('system');
  }

  set(theme: Theme): void {
    this.theme = theme;
    const dark = theme === 'system' ? this.system.matches : theme === 'dark';
    document.documentElement.dataset.theme = dark ? 'dark' : 'light';
    this.dark = dark;
  }
}

let scheme: Scheme | null = null;

export function watchScheme(): Scheme {
  scheme ??= new Scheme();
  return scheme;
}
