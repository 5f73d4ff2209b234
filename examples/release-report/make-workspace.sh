#!/bin/sh
# Makes ./workspace: a small program with a git history, tests and figures.
set -eu
cd "$(dirname "$0")"
rm -rf workspace
mkdir -p workspace/tests
cd workspace
git init -q -b main .
commit() { git add -A && git -c user.name=example -c user.email=example@example.invalid commit -q -m "$1"; }
printf 'def net(amount: float, rate: float) -> float:\n    """The amount without its tax."""\n    return amount / (1 + rate)\n' > billing.py
commit "Billing: net amounts"
printf 'import unittest\n\nfrom billing import net\n\n\nclass Net(unittest.TestCase):\n    def test_tax_is_taken_off(self):\n        self.assertAlmostEqual(net(119, 0.19), 100)\n\n    def test_no_tax(self):\n        self.assertEqual(net(5, 0), 5)\n' > tests/test_billing.py
commit "Billing: tests"
printf 'region,amount\nnorth,1200.50\nsouth,800.25\nnorth,99.25\n' > sales.csv
commit "Figures of the quarter"
printf '\n\ndef gross(net_amount: float, rate: float) -> float:\n    """The amount with its tax."""\n    return net_amount * (1 + rate)\n' >> billing.py
commit "Billing: gross amounts"
