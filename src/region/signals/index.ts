/** The providers, in order of preference: of two that have a signal of the same alias, the first gives it. */
import type { Provider } from './provider.ts';
import { time } from './time.ts';

/** A new provider is a file and an entry here. */
export const PROVIDERS: readonly Provider[] = [time];
