/** What numbers are of, in the order in which they are told. */
export const SCOPES = ['run', 'phase', 'pe', 'kp', 'lp', 'region', 'node', 'signal'] as const;
export type Scope = (typeof SCOPES)[number];
