/** What is said of files that should be region pages and are not. */

/**
 * A file that is no region page, or one that cannot be read: says which, and why.
 * @example
 * ```ts
 * import { PageError, PageReader } from 'triscope/region';
 *
 * try {
 *   new PageReader('some.page').close();
 * } catch (error) {
 *   if (error instanceof PageError) console.error(error.message);
 * }
 * ```
 */
export class PageError extends Error {}
