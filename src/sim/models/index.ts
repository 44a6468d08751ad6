/** The built-in models, by name. To add one, add a file and a line here. */
import type { Model } from '../model.ts';

type Loader = () => Promise<{ readonly default: Model }>;

/** Models that come with the package, by name; each is loaded when it is needed. */
export const BUILT_IN: Readonly<Record<string, Loader>> = {
  phold: () => import('./phold.ts'),
  queueing: () => import('./queueing.ts'),
  torus: () => import('./torus.ts'),
  pcs: () => import('./pcs.ts'),
  fattree: () => import('./fattree.ts'),
  dragonfly: () => import('./dragonfly.ts'),
  slimfly: () => import('./slimfly.ts'),
};
