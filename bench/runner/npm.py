"""Packages of npm that a benchmark compares with."""
import shutil
import subprocess
import sys


def folder_with(build_dir, name, package):
    """Where node finds `package` ("name@version"); nothing, and a line that says so, if it is not there and cannot be had."""
    folder = build_dir.resolve() / f"bench_{name}"
    module = package.rsplit("@", 1)[0]
    if (folder / "node_modules" / module).is_dir():
        return folder
    if not shutil.which("npm") or not shutil.which("node"):
        print(f"bench: no npm: without the pairing with {package}", file=sys.stderr)
        return None
    folder.mkdir(parents=True, exist_ok=True)
    command = ["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", folder, package]
    if subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode == 0:
        return folder
    print(f"bench: npm cannot install {package}: without the pairing with it", file=sys.stderr)
    return None
