/** DuckDB's settings wherever recordings are read. */

/** No network, no extensions; and memory for intermediate results, beyond which they go to a temporary folder. */
export const SETTINGS = {
  autoinstall_known_extensions: 'false',
  autoload_known_extensions: 'false',
  allow_community_extensions: 'false',
  memory_limit: '512MiB',
  // Readers are one thread; more of DuckDB's would need more memory each.
  threads: '4',
} as const;
