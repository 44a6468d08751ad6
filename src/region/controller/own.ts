/** A controller for this process: it samples in a thread while the other threads mark regions. */
import { ENV_AUTO, ENV_DIR } from '../../model/region-layout.ts';
import { pagesFolder } from './pages-folder.ts';
import type { ControllerSettings } from './settings.ts';
import { ControllerSide, type Hearers } from './side.ts';

export interface OwnOptions extends Hearers {
  readonly settings: Omit<ControllerSettings, 'pages'>;
  /** What marks regions in threads that load `preload`: `sim`. */
  readonly auto: string;
  /** Folder of the pages, in which other processes of this machine mark, too; removed at the end. */
  readonly pages?: string;
}

export interface OwnController {
  /** URL of the module that threads load first to mark what they do. */
  readonly preload: string;
  /** Ends it: takes a last sample, then writes the report. */
  finish(): Promise<void>;
}

/** Starts the controller. Threads that start afterwards may mark. @throws LaunchError */
export async function watchOwn(options: OwnOptions): Promise<OwnController> {
  const folder = pagesFolder(options.pages);
  const pages = folder.path;
  const before = { [ENV_DIR]: process.env[ENV_DIR], [ENV_AUTO]: process.env[ENV_AUTO] };
  const clean = () => {
    for (const [name, value] of Object.entries(before)) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
    folder.remove();
  };
  try {
    const side = new ControllerSide({ ...options.settings, pages, own: true }, options);
    await side.ready;
    const watcher = side.watch(pages);
    process.env[ENV_DIR] = pages;
    process.env[ENV_AUTO] = options.auto;
    await side.begin();
    return {
      preload: new URL('../auto.js', import.meta.url).href,
      async finish() {
        watcher?.close();
        side.ended(0, 0);
        await side.finished();
        clean();
      },
    };
  } catch (error) {
    clean();
    throw error;
  }
}
