/** `--root`: a recorded tree in the place of the machine. */
import { statSync } from 'node:fs';
import { text } from '../model/option.ts';
import { UsageError } from './errors.ts';
import { checkPath } from './missing-path.ts';

export const ROOT = text('', 'read proc and sys below this folder, such as a recorded tree', {
  placeholder: 'DIR',
  names: 'folder',
});

/** The value of `--root`. @throws UsageError where it is no folder */
export function rootFrom(root: string | undefined): string | undefined {
  if (root === undefined || statSync(root, { throwIfNoEntry: false })?.isDirectory()) return root;
  checkPath(root);
  throw new UsageError(`--root ${root}: there is no such folder`);
}
