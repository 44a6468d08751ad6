/** Errors about files that should be region pages and are not. */
import { TriscopeError } from '../model/error.ts';

/**
 * A file that is not a region page, or cannot be read. The message names the file and the reason.
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
export class PageError extends TriscopeError {}
