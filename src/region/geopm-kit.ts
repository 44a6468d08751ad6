/**
 * What is needed to compile and link a program marked for GEOPM, beside the library: headers, flags, and a pkg-config file with
 * the same flags.
 */
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { makeFolder } from '../os/folder.ts';

/** The sources, beside the built package. */
export const NATIVE_FOLDER = fileURLToPath(new URL('../../native', import.meta.url));

/** The version of the interface. */
const VERSION = '3.1.0';

export interface GeopmFlags {
  /** Flags for compilers of C and C++. */
  readonly compile: readonly string[];
  /** Flags for compilers of Fortran. */
  readonly fortran: readonly string[];
  readonly link: readonly string[];
  /** The folder for PKG_CONFIG_PATH. */
  readonly pkgConfig: string;
}

/** Flags for the libraries in `folder`. */
export function geopmFlags(folder: string): GeopmFlags {
  return {
    compile: [`-I${join(folder, 'include')}`],
    fortran: [`-I${join(folder, 'fortran')}`],
    link: [`-L${folder}`, `-Wl,-rpath,${folder}`, '-lgeopm'],
    pkgConfig: join(folder, 'pkgconfig'),
  };
}

/** Writes the headers and geopm.pc below `folder`. */
export function writeGeopmKit(folder: string): void {
  const { pkgConfig } = geopmFlags(folder);
  cpSync(join(NATIVE_FOLDER, 'geopm'), join(folder, 'include'), { recursive: true });
  makeFolder(pkgConfig);
  const lines = [
    `prefix=${folder}`,
    'Name: geopm',
    'Description: marking of regions for triscope region launch, by the interface of GEOPM',
    `Version: ${VERSION}`,
    // Quoted as for a shell, because pkg-config splits at spaces.
    // biome-ignore lint/suspicious/noTemplateCurlyInString: pkg-config's own
    'Cflags: -I"${prefix}/include" -I"${prefix}/fortran"',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: pkg-config's own
    'Libs: -L"${prefix}" -Wl,-rpath,"${prefix}" -lgeopm',
  ];
  writeFileSync(join(pkgConfig, 'geopm.pc'), `${lines.join('\n')}\n`);
}
