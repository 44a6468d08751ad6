/**
 * Completion scripts of the shells. Each passes on the line up to the cursor, and gets candidate words, one a line; a last line
 * `:files` or `:folders` tells the shell to complete paths itself.
 */
export const SHELLS: Readonly<Record<string, string>> = {
  bash: `_triscope() {
  local line="\${COMP_LINE:0:COMP_POINT}" word cut all
  word="\${line##*[[:space:]]}"
  COMPREPLY=()
  mapfile -t all < <(triscope completion --line="$line" 2>/dev/null)
  case "\${all[-1]}" in
    :files) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "\${word##*=}"); return ;;
    :folders) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -d -- "\${word##*=}"); return ;;
  esac
  # What readline takes for the word begins after the last = or :.
  cut="\${word%"\${word##*[=:]}"}"
  for word in "\${all[@]}"; do COMPREPLY+=("\${word#"$cut"}"); done
  [[ \${#COMPREPLY[@]} -eq 1 && \${COMPREPLY[0]} == *= ]] && compopt -o nospace
  return 0
}
complete -F _triscope triscope
`,
  zsh: `#compdef triscope
_triscope() {
  local -a all
  all=("\${(@f)$(triscope completion --line="$LBUFFER" 2>/dev/null)}")
  case "\${all[-1]}" in
    :files) compset -P '*='; _files; return ;;
    :folders) compset -P '*='; _files -/; return ;;
  esac
  compadd -S '' -- \${(M)all:#*=}
  compadd -- \${all:#*=}
}
compdef _triscope triscope
`,
  fish: `function __triscope
  set -l all (triscope completion --line=(commandline -cp | string collect) 2>/dev/null)
  switch "$all[-1]"
    case :files
      __fish_complete_path (string replace -r '^.*=' '' -- (commandline -ct))
    case :folders
      __fish_complete_directories (string replace -r '^.*=' '' -- (commandline -ct)) ''
    case '*'
      printf '%s\\n' $all
  end
end
complete -c triscope -f -a '(__triscope)'
`,
};
