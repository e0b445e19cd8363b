#!/bin/bash
# gnuplot: an apostrophe in a double-quoted string turns macros on in the single-quoted strings behind it.
#
# One guesses: @NAME is a macro outside of strings alone (the manual, "help macros", says that it is not expanded inside
# single or double quotes), so text in single quotes is drawn as it stands.
# What happens: the search for macros counts apostrophes also within double quotes. Behind "'" it takes single-quoted
# text for what is outside: @NAME vanishes with a warning on standard error, or becomes the value of a string variable of
# that name. Exit status 0. A doubled apostrophe within single quotes does no harm, nor does an @ that is written "\100".
# Version: gnuplot-nox 5.4.4+dfsg1-2+b2 (Debian 12). Source: src/command.c, expand_1level_macros().
# Whom it hurts: who writes scripts with text of others in them (titles, labels, file names) and joins a quote by
# 'it'."'".'s': a label such as a mail address, or NAME@GPU, is drawn without its end.
set -euo pipefail
version=5.4.4+dfsg1-2+b2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get -qq download "gnuplot-nox=$version" >download.log 2>&1
dpkg -x gnuplot-nox_*.deb root
gnuplot=$folder/root/usr/bin/gnuplot-nox
if ! "$gnuplot" --version >/dev/null 2>&1; then  # its libraries are not on this machine
    for package in $(apt-cache depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces \
        --no-enhances gnuplot-nox | grep '^lib' | grep -v '^libc6$' | sort -u); do
        apt-get -qq download "$package" >>download.log 2>&1 || true
    done
    for file in lib*.deb; do dpkg -x "$file" root; done
    LD_LIBRARY_PATH=$(find "$folder/root" -name '*.so*' -exec dirname {} + | sort -u | tr '\n' ':')
    export LD_LIBRARY_PATH
fi
"$gnuplot" --version

cat >script.gp <<'END'
set print '-'
print 'plain b@NAME.'
print 'it'."'".'s b@NAME.'
NAME = 'EXPANDED'
print 'it'."'".'s b@NAME.'
print 'it''s b@NAME.'
print 'it'."'".'s b'."\100".'NAME.'
END
"$gnuplot" script.gp >seen 2>warnings
cat seen warnings
cat >expected <<'END'
plain b@NAME.
it's b.
it's bEXPANDED.
it's b@NAME.
it's b@NAME.
END
cmp seen expected
grep -q 'NAME is not a string variable' warnings
echo "as described"
