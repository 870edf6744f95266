# Completion of evener for fish. Commands, their first words and options are those that evener's help tells, with what it says of them.
function __evener_told
    set -l words (commandline -opc)
    set -l said
    for word in $words[2..3]
        string match -qr '^[a-z]' -- $word; or break
        set -a said $word
    end
    set -l help ($words[1] $said --help 2>/dev/null)
    string replace -rf '^  (--[a-z-]+)(?: [A-Z]\S*)? *(.*)' '$1\t$2' -- $help
    test (count $words) -eq (math 1 + (count $said)); and test (count $words) -le 2
    and string replace -rf '^  (?!evener)([a-z][a-z0-9-]*) +(.*)' '$1\t$2' -- $help
end
complete -c evener -a '(__evener_told)'
