/** What numbers belong to, in the order in which they are shown. */
export const SCOPES = ['run', 'phase', 'pe', 'kp', 'lp', 'region', 'node', 'signal'] as const;
export type Scope = (typeof SCOPES)[number];
